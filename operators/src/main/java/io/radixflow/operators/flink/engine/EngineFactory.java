package io.radixflow.operators.flink.engine;

import io.radixflow.operators.PublicApi;
import io.radixflow.operators.engine.KvEventSink;
import java.io.Serializable;

/**
 * Opens the engine of a TaskManager; travels in the job graph. Subtasks of one job whose openers
 * have equal {@link #identity} share one engine.
 */
@PublicApi
public interface EngineFactory extends Serializable {

  /**
   * Everything that decides the engine, as text: model, device, pool and engine options. Not shown
   * to anybody; a hash of it is part of the engine's lease key.
   */
  String identity();

  /**
   * This opener, of engines that tell what is in their caches.
   *
   * @param events opens what that goes to; null for nowhere
   */
  default EngineFactory publishing(KvEventSink.Factory events) {
    return this;
  }

  /** Whether the engine cannot run but on a GPU. */
  default boolean needsGpu() {
    return false;
  }

  /**
   * This opener, on a GPU if it may run on one and none is named.
   *
   * @param index the driver's number of the GPU
   */
  default EngineFactory onGpu(int index) {
    return this;
  }

  /**
   * Loads the model and starts the engine; takes seconds. Called by one subtask at a time.
   *
   * @param home what the engine finds of itself before
   * @throws io.radixflow.kernels.device.OutOfDeviceMemoryException if the device's memory is not
   *     free now
   * @throws IllegalArgumentException if the device or an option is not to be had, now or later
   * @throws Exception if the model or the device cannot be had; the message is for people
   */
  ServingEngine open(EngineDirectory home) throws Exception;

  /** As {@link #open(EngineDirectory)}, of an engine that finds nothing and leaves nothing. */
  default ServingEngine open() throws Exception {
    return open(EngineDirectory.NONE);
  }
}
