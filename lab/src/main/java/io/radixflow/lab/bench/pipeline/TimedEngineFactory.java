package io.radixflow.lab.bench.pipeline;

import io.radixflow.engine.Engine;
import io.radixflow.engine.KvEventSink;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.ServingEngine;

/** Opens engines that record the times of their turns. */
record TimedEngineFactory(EngineFactory timed) implements EngineFactory {

  @Override
  public String identity() {
    return timed.identity();
  }

  @Override
  public EngineFactory publishing(KvEventSink.Factory events) {
    return new TimedEngineFactory(timed.publishing(events));
  }

  @Override
  public boolean needsGpu() {
    return timed.needsGpu();
  }

  @Override
  public EngineFactory onGpu(int index) {
    return new TimedEngineFactory(timed.onGpu(index));
  }

  @Override
  public ServingEngine open(EngineDirectory directory) throws Exception {
    ServingEngine opened = timed.open(directory);
    Engine engine = EngineHops.time(opened.engine());
    return new ServingEngine(engine, opened.model(), opened.instance(), opened.tiers());
  }
}
