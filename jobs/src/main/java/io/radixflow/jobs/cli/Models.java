package io.radixflow.jobs.cli;

import io.radixflow.kernels.ServedModel;
import java.util.function.Consumer;

/** Opens the models that commands name. */
final class Models {
  private Models() {}

  static ServedModel open(String model, Consumer<String> progress) {
    throw new CliException("unknown model " + model);
  }
}
