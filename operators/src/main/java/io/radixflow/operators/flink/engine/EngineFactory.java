package io.radixflow.operators.flink.engine;

import io.radixflow.engine.KvEventSink;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * Opens the engine of a TaskManager; serialized in the job graph. Subtasks of one job whose
 * factories have equal {@link #identity} share one engine.
 */
@PublicApi
public interface EngineFactory extends Serializable {

  /**
   * Returns a text with everything that defines the engine: model, device, pool and engine options.
   * It is never shown; a hash of it is part of the engine's lease key.
   */
  String identity();

  /**
   * Returns a factory of engines that also publish the contents of their caches.
   *
   * @param events opens the destination; null for none
   */
  default EngineFactory publishing(KvEventSink.Factory events) {
    return this;
  }

  /** Returns whether the engine runs only on a GPU. */
  default boolean needsGpu() {
    return false;
  }

  /**
   * Returns a factory of engines on a GPU, if the engine may run on a GPU and no GPU is configured.
   *
   * @param index the driver's number of the GPU
   */
  default EngineFactory onGpu(int index) {
    return this;
  }

  /**
   * Loads the model and starts the engine; takes seconds. Called by one subtask at a time.
   *
   * @param directory files that a previous engine left on this TaskManager
   * @throws io.radixflow.kernels.device.OutOfDeviceMemoryException if the device has too little
   *     free memory now
   * @throws IllegalArgumentException if the device or an option is not available, now or later
   * @throws Exception if the model or the device is not available; the message is for users
   */
  ServingEngine open(EngineDirectory directory) throws Exception;

  /** Opens an engine that neither reads nor leaves files. */
  default ServingEngine open() throws Exception {
    return open(EngineDirectory.NONE);
  }
}
