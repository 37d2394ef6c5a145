package io.radixflow.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.TestModels;
import io.radixflow.models.TinyChatModel;
import io.radixflow.text.TextModel;
import io.radixflow.text.tokenizer.DjlOracle;
import io.radixflow.text.tokenizer.TinyVocabulary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelLoaderTest {

  @Test
  void theSimulatedModelNeedsNoFile() throws IOException {
    ModelLoader.Locator none =
        model -> {
          throw new AssertionError("asked for " + model);
        };
    try (ServedModel model = ModelLoader.open("sim", none);
        Backend backend = model.openBackend(DeviceOptions.DEFAULT)) {
      assertThat(backend.name()).isEqualTo("sim");
    }
  }

  @Test
  @Tag("model")
  void aModelFileOpensWithItsTokenizerAndRunsOnTheCpu() {
    try (ServedModel model = ModelLoader.open(TestModels.smolLm2());
        Backend backend = model.openBackend(DeviceOptions.DEFAULT.on("cpu"))) {
      assertThat(backend.name()).isEqualTo("cpu");
      assertThat(model.tokenizer().vocabSize()).isEqualTo(model.config().vocabSize());
      assertThat(model.tokenizer().encodeWithSpecial("<|im_end|>")).containsExactly(2);
    }
  }

  @Test
  @Tag("model")
  void aModelFileDoesNotRunOnADeviceThatIsNotThere() {
    try (ServedModel model = ModelLoader.open(TestModels.smolLm2())) {
      DeviceOptions options = new DeviceOptions("sim", 1, DeviceOptions.DEFAULT.kvType());
      assertThatThrownBy(() -> model.openBackend(options))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("use auto, cpu or cuda");
    }
  }

  @Test
  void aForeignFileIsRefusedByName(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("notes.gguf"), "Dear diary, today I saw a llama.");
    assertThatThrownBy(() -> ModelLoader.open(file))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("notes.gguf");
  }

  @Test
  void theTextSideOpensWhateverTheArchitecture(@TempDir Path folder) throws IOException {
    Files.writeString(folder.resolve("config.json"), "{\"model_type\": \"unheard-of\"}");
    Files.writeString(
        folder.resolve("tokenizer.json"),
        DjlOracle.byteLevelJson(TinyVocabulary.get().metadata("qwen2"), true).toString());
    TextModel text = ModelLoader.openText(folder.toString(), Path::of);
    assertThat(text.tokenizer().encodeWithSpecial("<|end|>")).containsExactly(0);
    assertThatThrownBy(() -> ModelLoader.open(folder)).hasMessageContaining("unheard-of");
    assertThat(ModelLoader.openText("sim", Path::of).tokenizer().encode("a")).hasSize(1);
  }

  @Test
  void aModelIsNotLoadedIntoLessMemoryThanItNeeds(@TempDir Path directory) throws IOException {
    MemoryStatus little = new MemoryStatus(1L << 30, 0, 8 << 20, 1L << 30, 0, 0);
    Path path = TinyChatModel.write(directory);
    try (ServedModel model = ModelLoader.open(path, () -> little)) {
      assertThatThrownBy(() -> model.openBackend(DeviceOptions.DEFAULT.on("cpu")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("does not fit in memory")
          .hasMessageContaining("the machine has 1024 MB, of which 8 MB are available");
      assertThat(model.heapNeeds()).isPresent();
      assertThat(model.gpuNeeds()).isPresent();
    }
  }
}
