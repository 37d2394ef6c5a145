package io.radixflow.operators.flink;

import io.radixflow.operators.engine.KvEventSink;
import java.io.Serializable;
import java.nio.file.Path;

/**
 * Opens the engine of a TaskManager; travels in the job graph. Subtasks of one job whose openers
 * have equal {@link #identity} share one engine.
 */
public interface EngineOpener extends Serializable {

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
  default EngineOpener publishing(KvEventSink.Factory events) {
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
  default EngineOpener onGpu(int index) {
    return this;
  }

  /**
   * Loads the model and starts the engine; takes seconds. Called by one subtask at a time.
   *
   * @param crashJournal a file that outlives the process and tells its successor which turns it was
   *     working on; null for none
   * @throws Exception if the model or the device cannot be had; the message is for people
   */
  ServingEngine open(Path crashJournal) throws Exception;

  /** As {@link #open(Path)}, without a journal. */
  default ServingEngine open() throws Exception {
    return open(null);
  }
}
