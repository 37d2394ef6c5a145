package io.radixflow.operators.flink;

import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.engine.Engine;

/**
 * A running engine with the model it serves; closing it closes both.
 *
 * @param engine generates replies
 * @param model makes prompts; also used on the engine's intake threads
 */
public record ServingEngine(Engine engine, ServedModel model) implements AutoCloseable {

  @Override
  public void close() {
    try (model) {
      engine.close();
    }
  }
}
