package io.radixflow.operators.flink;

import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.engine.Engine;
import java.util.UUID;

/**
 * A running engine with the model it serves; closing it closes both.
 *
 * @param engine generates replies
 * @param model makes prompts; also used on the engine's intake threads
 * @param instance tells this engine and its cache from any other
 */
public record ServingEngine(Engine engine, ServedModel model, String instance)
    implements AutoCloseable {

  public ServingEngine(Engine engine, ServedModel model) {
    this(engine, model, UUID.randomUUID().toString());
  }

  @Override
  public void close() {
    try (model) {
      engine.close();
    }
  }
}
