package io.radixflow.engine.model;

import io.radixflow.kernels.device.Batch;

/** Fails steps on purpose. */
@FunctionalInterface
public interface SimFault {

  /** Exit code of a process that a fault ended; shells report SIGKILL with this code. */
  int HALTED = 137;

  SimFault NONE = batch -> {};

  /**
   * Runs on the backend's thread before each step; an exception fails the step.
   *
   * @param batch the step's rows; input tokens that earlier steps produced are known
   */
  void beforeStep(Batch batch);

  /** Ends the process, like a crash, before a step in which a row's input is {@code token}. */
  static SimFault haltOnToken(int token) {
    return batch -> {
      for (int row = 0; row < batch.rows(); row++) {
        if (batch.rowToken(row) == token) {
          Runtime.getRuntime().halt(HALTED);
        }
      }
    };
  }

  /** Fails each step in which a row's input is {@code token}. */
  static SimFault onToken(int token) {
    return batch -> {
      for (int row = 0; row < batch.rows(); row++) {
        if (batch.rowToken(row) == token) {
          throw new IllegalStateException("injected fault: a row's input is token " + token);
        }
      }
    };
  }
}
