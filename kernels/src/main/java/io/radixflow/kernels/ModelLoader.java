package io.radixflow.kernels;

import io.radixflow.kernels.model.ModelFile;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import io.radixflow.kernels.text.TextModel;
import java.io.IOException;
import java.nio.file.Path;

/** Opens models for serving by the name that a user gives them. */
public final class ModelLoader {

  /** The name of the simulated model. */
  public static final String SIM = "sim";

  private ModelLoader() {}

  /** Finds a model's file or directory, fetching it if need be. */
  @FunctionalInterface
  public interface Locator {
    /**
     * @throws IOException if the model cannot be had; the message says what was tried
     */
    Path locate(String model) throws IOException;
  }

  /**
   * Opens a model.
   *
   * @param model {@value #SIM}, or what {@code locator} finds
   * @param locator not asked for the simulated model
   * @throws IOException if the model cannot be found or fetched
   * @throws ModelFormatException if it is corrupt or not supported
   */
  public static ServedModel open(String model, Locator locator) throws IOException {
    if (model.equals(SIM)) {
      return SimModel.open(SimOptions.DEFAULT);
    }
    return open(locator.locate(model));
  }

  /**
   * Opens a GGUF file or a Hugging Face directory.
   *
   * @throws ModelFormatException if it is missing, corrupt or not supported
   */
  public static ServedModel open(Path path) {
    ModelFile file = ModelFile.open(path);
    try {
      TextModel text =
          file.metadata()
              .map(TextModel::fromGguf)
              .orElseGet(() -> TextModel.fromDirectory(file.path()));
      return new LoadedModel(file, text);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }
}
