package io.radixflow.operators.flink;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.EngineOptions;
import java.io.Serializable;

/**
 * Opens the engine of continuous batching on a model.
 *
 * @param source finds and opens the model, on the TaskManager
 * @param model what {@code source} finds it by
 * @param device where it runs
 * @param options the engine's sizes and bounds
 */
public record ModelEngineOpener(
    Source source, String model, DeviceOptions device, EngineOptions options)
    implements EngineOpener {

  /** Finds and opens a model; travels in the job graph. */
  @FunctionalInterface
  public interface Source extends Serializable {
    /**
     * @throws Exception if the model cannot be had; the message is for people
     */
    ServedModel open(String model) throws Exception;
  }

  @Override
  public String identity() {
    return model + "\n" + device + "\n" + options;
  }

  @Override
  public ServingEngine open() throws Exception {
    ServedModel served = source.open(model);
    try {
      return new ServingEngine(ContinuousBatchingEngine.open(served, device, options), served);
    } catch (RuntimeException | Error e) {
      served.close();
      throw e;
    }
  }
}
