package io.radixflow.operators.flink.engine;

import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.engine.Engine;
import java.util.UUID;

/**
 * A running engine with the model it serves; closing it closes both.
 *
 * @param engine generates replies
 * @param model makes prompts; also used on the engine's intake threads
 * @param instance id of this engine and its cache, different from any other's
 * @param tiers the tiers below its device
 */
public record ServingEngine(Engine engine, ServedModel model, String instance, EngineTiers tiers)
    implements AutoCloseable {

  public ServingEngine(Engine engine, ServedModel model) {
    this(engine, model, EngineTiers.NONE);
  }

  public ServingEngine(Engine engine, ServedModel model, EngineTiers tiers) {
    this(engine, model, UUID.randomUUID().toString(), tiers);
  }

  @Override
  public void close() {
    tiers.stop();
    try (model;
        tiers) {
      engine.close();
    }
  }
}
