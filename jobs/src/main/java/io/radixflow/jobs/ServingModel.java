package io.radixflow.jobs;

import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.ServedModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens the model on a TaskManager. */
final class ServingModel {

  private ServingModel() {}

  static ServedModel open(String model) throws IOException {
    return ModelLoader.open(model, ServingModel::locate);
  }

  private static Path locate(String model) throws IOException {
    Path path = Path.of(model);
    if (!Files.exists(path)) {
      throw new IOException(
          "there is no model file " + model + " on this TaskManager: set the option model");
    }
    return path;
  }
}
