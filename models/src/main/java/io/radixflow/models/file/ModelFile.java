package io.radixflow.models.file;

import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.RadixflowHome;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightSource;
import io.radixflow.models.file.format.GgufFiles;
import io.radixflow.models.file.format.GgufMetadata;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * An opened model: a GGUF file or a Hugging Face directory. Its tensors were checked against the
 * graph. Thread-safe. The caller that opens it also closes it. The files must not be changed in
 * place while it is open; to replace a model, move another file over it.
 */
public final class ModelFile implements WeightSource {
  private final Path path;
  private final ModelConfig config;
  private final Supplier<String> fingerprint;
  private final GgufMetadata metadata;
  private final Closeable files;
  private volatile Map<String, Tensor> tensors;

  /**
   * @param tensors every tensor of the graph by canonical name
   * @param fingerprint computed when first asked for
   * @param metadata null for a Hugging Face directory
   * @param files the files of the tensors, closed with the model
   */
  ModelFile(
      Path path,
      ModelConfig config,
      Map<String, Tensor> tensors,
      Supplier<String> fingerprint,
      GgufMetadata metadata,
      Closeable files) {
    this.path = path;
    this.config = config;
    this.tensors = Map.copyOf(tensors);
    this.fingerprint = fingerprint;
    this.metadata = metadata;
    this.files = files;
  }

  /**
   * Opens a model. Reads none of its matrices.
   *
   * @param path a GGUF file or a directory with {@code config.json} and safetensors
   * @throws ModelFormatException if it is missing, corrupt, truncated or not supported
   */
  public static ModelFile open(Path path) {
    return open(path, RadixflowHome.path());
  }

  /** Opens a model like {@link #open(Path)}, with another home for its fingerprints. */
  static ModelFile open(Path path, Path home) {
    return reading(
        path,
        () ->
            Files.isDirectory(path)
                ? HuggingFaceModel.open(path, home)
                : GgufModel.open(path, home));
  }

  /**
   * Reads the metadata of a GGUF file, even if its architecture is not supported.
   *
   * @throws ModelFormatException if it is missing, corrupt or truncated
   */
  public static GgufMetadata readMetadata(Path path) {
    return reading(path, () -> GgufModel.metadata(path));
  }

  /**
   * Describes a file or directory in one line, even if the model is not supported.
   *
   * @throws ModelFormatException if it is missing, corrupt or truncated
   */
  public static String summary(Path path) {
    return reading(
        path,
        () -> Files.isDirectory(path) ? HuggingFaceModel.summary(path) : GgufModel.summary(path));
  }

  /**
   * Returns the size of all files of a model in bytes, even if it is not supported.
   *
   * @throws ModelFormatException if it is missing
   */
  public static long bytes(Path path) {
    return reading(
        path, () -> Files.isDirectory(path) ? HuggingFaceModel.bytes(path) : GgufFiles.bytes(path));
  }

  /** Reads something from a file or directory. */
  private interface Reader<T> {
    T read() throws IOException;
  }

  private static <T> T reading(Path path, Reader<T> reader) {
    try {
      return reader.read();
    } catch (ClosedByInterruptException e) {
      throw new ModelFormatException(
          path + ": the thread that read it was interrupted; open the model again", e);
    } catch (NoSuchFileException e) {
      throw new ModelFormatException(path + ": no such file: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new ModelFormatException(path + ": cannot be read: " + e.getMessage(), e);
    }
  }

  public Path path() {
    return path;
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public Tensor tensor(String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new ModelFormatException("model " + config.name() + " has no tensor " + name);
    }
    return tensor;
  }

  @Override
  public String fingerprint() {
    return fingerprint.get();
  }

  /**
   * GGUF metadata; empty for a Hugging Face directory, which stores its tokenizer in separate
   * files.
   */
  public Optional<GgufMetadata> metadata() {
    return Optional.ofNullable(metadata);
  }

  @Override
  public void close() {
    tensors = Map.of();
    try {
      files.close();
    } catch (IOException e) {
      throw new UncheckedIOException(path + ": cannot be closed: " + e.getMessage(), e);
    }
  }
}
