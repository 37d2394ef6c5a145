package io.radixflow.engine.model;

import io.radixflow.kernels.device.MemorySource;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.file.ModelFile;
import io.radixflow.text.SimText;
import io.radixflow.text.TextModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens models for serving by the name that a user gives them. */
public final class ModelLoader {

  /** The name of the simulated model. */
  public static final String SIM = SimText.NAME;

  private ModelLoader() {}

  /** Returns whether a name selects the simulated model, which needs no file. */
  public static boolean isSimulated(String model) {
    return SimText.isNamed(model);
  }

  /** Finds a model's file or directory; downloads it if necessary. */
  @FunctionalInterface
  public interface Locator {
    /**
     * @throws IOException if the model is not available; the message names the sources that were
     *     tried
     */
    Path locate(String model) throws IOException;
  }

  /**
   * Opens a model.
   *
   * @param model {@value #SIM}, perhaps with options after a colon, or a name that {@code locator}
   *     understands
   * @param locator finds the files; not called for the simulated model
   * @throws IOException if the model cannot be found or fetched
   * @throws IllegalArgumentException if the options of the simulated model are wrong
   * @throws ModelFormatException if it is corrupt or not supported
   */
  public static ServedModel open(String model, Locator locator) throws IOException {
    if (isSimulated(model)) {
      return SimModel.open(SimOptions.parse(model.substring(SIM.length())));
    }
    return open(locator.locate(model));
  }

  /**
   * Opens only the tokenizer and the chat template; this works even for a model whose weights are
   * not supported. Parameters and exceptions are the same as for {@link #open(String, Locator)}.
   */
  public static TextModel openText(String model, Locator locator) throws IOException {
    if (isSimulated(model)) {
      SimOptions.parse(model.substring(SIM.length()));
      return SimText.open();
    }
    Path path = locator.locate(model);
    return Files.isDirectory(path)
        ? TextModel.fromDirectory(path)
        : TextModel.fromGguf(ModelFile.readMetadata(path));
  }

  /**
   * Opens a GGUF file or a Hugging Face directory.
   *
   * @throws ModelFormatException if it is missing, corrupt or not supported
   */
  public static ServedModel open(Path path) {
    return open(path, MemorySource.system());
  }

  /** Opens a model whose memory is limited by what {@code memory} reports. */
  static ServedModel open(Path path, MemorySource memory) {
    ModelFile file = ModelFile.open(path);
    try {
      return new LoadedModel(file, TextModel.of(file), memory);
    } catch (RuntimeException | Error e) {
      file.close();
      throw e;
    }
  }
}
