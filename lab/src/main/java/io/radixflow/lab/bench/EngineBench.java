package io.radixflow.lab.bench;

import com.sun.management.OperatingSystemMXBean;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineRequest;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.EngineTarget;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;

/** Runs random prompts that share nothing through an engine, and times its steps. */
final class EngineBench implements AutoCloseable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final OperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final Engine engine;
  private final EngineTarget target;
  private final Function<SplittableRandom, EngineRequest> prompts;

  /**
   * @param engine closed here at the end
   * @param prompts makes each request
   */
  EngineBench(Engine engine, Function<SplittableRandom, EngineRequest> prompts) {
    this.engine = engine;
    this.target = new EngineTarget(engine);
    this.prompts = prompts;
  }

  /**
   * The average times of an engine step.
   *
   * @param seconds from the first request to the end of the last, over the steps
   * @param hostSeconds that the engine's own thread computed in that time, over the steps
   * @param processSeconds that all threads of the process computed, over the steps
   */
  record StepTime(double seconds, double hostSeconds, double processSeconds) {}

  /** Runs requests, a number of them at once; the host's time is right from the second run on. */
  StepTime run(int requests, int batch, long seed) throws InterruptedException {
    SplittableRandom random = new SplittableRandom(seed);
    List<EngineRequest> turns =
        Stream.generate(() -> prompts.apply(random)).limit(requests).toList();
    long steps = engine.stats().steps().steps();
    long host = hostNanos();
    long process = PROCESS.getProcessCpuTime();
    long start = System.nanoTime();
    Driver.bounded(target, turns, batch);
    double nanos = System.nanoTime() - start;
    double hostNanos = hostNanos() - host;
    double processNanos = PROCESS.getProcessCpuTime() - process;
    double count = 1e9 * (engine.stats().steps().steps() - steps);
    return new StepTime(nanos / count, hostNanos / count, processNanos / count);
  }

  private long hostNanos() {
    long thread = target.engineThread();
    return thread == 0 ? 0 : THREADS.getThreadCpuTime(thread);
  }

  @Override
  public void close() {
    target.close();
    engine.close();
  }
}
