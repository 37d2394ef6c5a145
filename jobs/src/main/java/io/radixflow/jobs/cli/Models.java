package io.radixflow.jobs.cli;

import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.ServedModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

/** Opens the models that commands name. */
final class Models {
  private Models() {}

  static ServedModel open(String model, Consumer<String> progress) throws IOException {
    return ModelLoader.open(model, Path::of);
  }
}
