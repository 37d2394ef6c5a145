package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.model.ModelLoader;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TinyModels;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A model's files are open as long as the model, and no longer. */
@EnabledOnOs(OS.LINUX)
class OpenModelsTest {
  private static final DeviceOptions ONE_THREAD = new DeviceOptions("cpu", 1, null);

  @TempDir Path directory;

  /** The files of the directory that this process has open. */
  private long open() throws IOException {
    Path real = directory.toRealPath();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.filter(descriptor -> target(descriptor).startsWith(real)).count();
    }
  }

  private static Path target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor);
    } catch (IOException e) {
      // the descriptor of the list itself, or one that another thread closed
      return descriptor;
    }
  }

  private Path copy(String model) throws IOException {
    Path source = TinyModels.path(model);
    Path copy = directory.resolve(source.getFileName());
    if (!Files.isDirectory(source)) {
      return Files.copy(source, copy);
    }
    Files.createDirectories(copy);
    try (Stream<Path> files = Files.list(source)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(file.getFileName()));
      }
    }
    return copy;
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama-k", "llama3-bf16", "llama"})
  void aModelClosesTheFilesThatItsTensorsAreReadFrom(String name) throws IOException {
    Path path = copy(name);
    Tensor tensor;
    try (ModelFile model = ModelFile.open(path, directory)) {
      assertThat(open()).isEqualTo(1);
      CpuBackend.open(model, ONE_THREAD).close();
      tensor = model.tensor("token_embd.weight");
      assertThat(tensor.rows(0, 1).hasRemaining()).isTrue();
    }
    assertThat(open()).isZero();
    assertThatThrownBy(() -> tensor.rows(0, 1))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("the model was closed");
  }

  @Test
  void aModelThatIsRefusedLeavesNoFileOpen() throws IOException {
    Path file = directory.resolve("model.gguf");
    GgufBuilder whole = GgufBuilder.llama();
    byte[] bytes = whole.bytes();
    for (int length : List.of(0, 100, bytes.length / 2, bytes.length - 1)) {
      Files.write(file, Arrays.copyOf(bytes, length));
      refused(file);
    }
    refused(GgufBuilder.llama().without("blk.0.ffn_up.weight").write(file));
    refused(GgufBuilder.llama().with("split.count", 3).write(file));
    Path split = directory.resolve("m-00001-of-00003.gguf");
    refused(GgufBuilder.llama().with("split.count", 3).write(split));
    Path tiny = copy("llama");
    Path config = tiny.resolve("config.json");
    String json = Files.readString(config);
    Files.writeString(config, json.replaceFirst("\"hidden_size\": \\d+", "\"hidden_size\": 128"));
    refused(tiny);
    Files.writeString(tiny.resolve("model.safetensors.index.json"), "{\"weight_map\": {}}");
    refused(tiny);
  }

  private void refused(Path path) throws IOException {
    assertThatThrownBy(() -> ModelFile.open(path, directory))
        .isInstanceOf(ModelFormatException.class);
    assertThat(open()).as("open files of %s", path).isZero();
  }

  @Test
  void aModelWithoutATokenizerIsClosed() throws IOException {
    Path file = GgufBuilder.llama().write(directory.resolve("model.gguf"));
    assertThatThrownBy(() -> ModelLoader.open(file)).isInstanceOf(ModelFormatException.class);
    assertThat(open()).isZero();
  }

  @Test
  void anInterruptedOpeningSaysSo() {
    try {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> ModelFile.open(TinyModels.path("llama-k"), directory))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining("was interrupted; open the model again");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama-k", "llama"})
  void anInterruptedLoadSaysSo(String name) {
    try (ModelFile model = ModelFile.open(TinyModels.path(name), directory)) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> CpuBackend.open(model, ONE_THREAD))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageContaining("was interrupted; open the model again");
    } finally {
      assertThat(Thread.interrupted()).isTrue();
    }
  }

  @Test
  void aModelIsReadFromTheFileWhoseHeadWasChecked() throws IOException {
    Path file = copy("llama-k");
    try (ModelFile model = ModelFile.open(file, directory)) {
      Files.move(
          Files.writeString(directory.resolve("other"), "not a model"),
          file,
          StandardCopyOption.REPLACE_EXISTING);
      CpuBackend.open(model, ONE_THREAD).close();
    }
  }

  @ParameterizedTest
  @CsvSource({"llama-k, llama-k.gguf", "llama, llama/model.safetensors"})
  void aFileThatIsCutOffWhileItIsOpenIsRefused(String model, String name) throws IOException {
    Path path = copy(model);
    Path file = directory.resolve(name);
    try (ModelFile opened = ModelFile.open(path, directory)) {
      try (FileChannel other = FileChannel.open(file, StandardOpenOption.WRITE)) {
        other.truncate(Files.size(file) / 2);
      }
      assertThatThrownBy(() -> CpuBackend.open(opened, ONE_THREAD))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining(file + ": tensor ")
          .hasMessageContaining("was cut off");
    }
  }
}
