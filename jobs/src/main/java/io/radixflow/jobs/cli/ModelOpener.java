package io.radixflow.jobs.cli;

import io.radixflow.kernels.ServedModel;
import java.io.IOException;
import java.util.function.Consumer;

/** Opens a model by what a user calls it. */
@FunctionalInterface
interface ModelOpener {

  /**
   * Finds, if need be fetches, and opens a model; blocks.
   *
   * @param model a path, a hub name, or {@code sim}
   * @param progress receives one line for people at each step
   * @throws IOException if the model cannot be had; the message says what was tried
   */
  ServedModel open(String model, Consumer<String> progress) throws IOException;
}
