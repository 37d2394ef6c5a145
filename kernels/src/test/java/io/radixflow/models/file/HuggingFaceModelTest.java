package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.TensorType;
import io.radixflow.models.TinyModels;
import io.radixflow.models.file.QuantisedCopy.Stored;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HuggingFaceModelTest {
  private static final String SHARD = "model-00001-of-00002.safetensors";

  private static final String INDEX = "model.safetensors.index.json";

  @TempDir Path directory;

  @Test
  void shardsOpenAsOneModel() throws IOException {
    copy("llama3");
    try (ModelFile model = ModelFile.open(directory, directory)) {
      assertThat(model.metadata()).isEmpty();
      assertThat(model.config().tiedEmbedding()).isFalse();
      assertThat(model.tensor("output.weight").type()).isEqualTo(TensorType.BF16);
      assertThatThrownBy(() -> model.tensor("blk.2.attn_q.weight"))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageContaining("blk.2.attn_q.weight");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"deepseek_v3", "gemma2", "gpt_oss-mxfp4", "phi3-longrope"})
  void everyTensorIsNamedWithItsFileAndItsNameThere(String name) throws Exception {
    Path stored = ResourceFolder.of("/architectures/" + name);
    try (ModelFile model = ModelFile.open(stored, directory)) {
      for (String tensor : GraphTensors.of(model.config()).keySet()) {
        assertThat(model.tensor(tensor).where())
            .matches(
                Pattern.quote(stored + "/model.safetensors: tensor ")
                    + "(model\\.|lm_head\\.)[a-z_0-9.]+ "
                    + Pattern.quote("(" + tensor + ")"));
      }
    }
  }

  @Test
  void aDamagedExponentIsNamedWithItsFile() throws Exception {
    Path stored = ResourceFolder.of("/architectures/gpt_oss-mxfp4");
    Files.copy(stored.resolve("config.json"), directory.resolve("config.json"));
    Map<String, Stored> tensors = QuantisedCopy.read(stored.resolve("model.safetensors"));
    tensors.get("model.layers.0.mlp.experts.down_proj_scales").bytes()[0] = (byte) 255;
    QuantisedCopy.write(directory, tensors);
    try (ModelFile model = ModelFile.open(directory, directory)) {
      assertThatThrownBy(() -> CpuBackend.open(model, new DeviceOptions("cpu", 1, null)))
          .isInstanceOf(ModelFormatException.class)
          .hasMessageStartingWith(
              directory.resolve("model.safetensors")
                  + ": tensor model.layers.0.mlp.experts.down_proj_blocks"
                  + " (blk.0.ffn_down.0.weight): row 0 has a weight or scale of ");
    }
  }

  @Test
  void aMissingShardIsNamed() throws IOException {
    copy("llama3");
    Files.delete(directory.resolve(SHARD));
    refused(SHARD);
  }

  @Test
  void aTensorThatIsNotWhereTheIndexSaysIsNamed() throws IOException {
    copy("llama3");
    edit(INDEX, "\"model.norm.weight\"", "\"model.norm2.weight\"");
    refused("weight_map has tensor model.norm2.weight in model-0000");
  }

  @Test
  void aTensorInTwoFilesIsNamedWithBoth() throws IOException {
    copy("llama3");
    String third = "model-00003-of-00003.safetensors";
    Files.copy(directory.resolve(SHARD), directory.resolve(third));
    edit(INDEX, "\"lm_head.weight\":\"" + SHARD, "\"lm_head.weight\":\"" + third);
    refused("lm_head.weight is in two files: " + SHARD + " and " + third);
  }

  @ParameterizedTest
  @ValueSource(strings = {"../model.safetensors", "/etc/passwd", "a/b.safetensors", "x.bin", ""})
  void anIndexMayNameFilesOfItsDirectoryOnly(String name) throws IOException {
    copy("llama3");
    Path index = directory.resolve("model.safetensors.index.json");
    Files.writeString(index, Files.readString(index).replace(SHARD, name));
    refused("is not the name of a safetensors file");
  }

  @Test
  void aDirectoryWithoutWeightsOrConfigIsNone() throws IOException {
    refused("config.json");
    copy("llama");
    Files.delete(directory.resolve("model.safetensors"));
    refused("neither model.safetensors nor");
  }

  @Test
  void aTensorThatTheConfigDoesNotExpectIsNamed() throws IOException {
    copy("llama");
    edit("config.json", "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 1");
    refused("model.layers.1.input_layernorm.weight is not part of a llama graph of 1 layers");
  }

  @Test
  void aMissingTensorIsNamedAsInTheCheckpoint() throws IOException {
    copy("llama");
    edit("config.json", "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
    refused("tensor lm_head.weight is missing");
  }

  @Test
  void anotherShapeOrElementTypeIsNamed() throws IOException {
    copy("llama");
    edit("config.json", "\"vocab_size\": 96", "\"vocab_size\": 97");
    refused("model.embed_tokens.weight is [96, 64]; expected 97 x 64");
    copy("llama");
    edit("model.safetensors", "\"F32\"", "\"I32\"");
    refused("element type I32 is not supported");
  }

  @Test
  void rangesOverEachOtherOrOutOfTheFileAreRefused() throws IOException {
    copy("llama");
    byte[] bytes = Files.readAllBytes(directory.resolve("model.safetensors"));
    Files.write(directory.resolve("model.safetensors"), Arrays.copyOf(bytes, 200_000));
    refused("truncated");
    header(
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
            + "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[3,7]}}");
    refused("overlaps");
    header("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[-4,0]}}");
    refused("whole numbers");
    header("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,9223372036854775807]}}");
    refused("exceed");
    header("{\"a\":[]}");
    refused("expected dtype, shape and two data_offsets");
  }

  @Test
  void headersThatAreNoJsonObjectOrHostileAreRefused() throws IOException {
    copy("llama");
    header("[]");
    refused("not a JSON object");
    header("{\"a\":1,\"a\":2}");
    refused("not valid JSON");
    header("[".repeat(5000));
    refused("not valid JSON");
    Files.write(directory.resolve("model.safetensors"), GgufBuilder.longs(Long.MAX_VALUE, 0));
    refused("header of 9223372036854775807 bytes");
  }

  @Test
  void theUnusedOutputMatrixOfATiedModelIsIgnored() throws IOException {
    copy("llama3");
    edit("config.json", "\"tie_word_embeddings\": false", "\"tie_word_embeddings\": true");
    assertThatCode(() -> ModelFile.open(directory, directory).close()).doesNotThrowAnyException();
  }

  private void header(String json) throws IOException {
    byte[] head = json.getBytes(StandardCharsets.UTF_8);
    byte[] all = GgufBuilder.join(GgufBuilder.longs(head.length), head, new byte[16]);
    Files.write(directory.resolve("model.safetensors"), all);
  }

  private void edit(String file, String from, String to) throws IOException {
    Path path = directory.resolve(file);
    String text = new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
    assertThat(text).contains(from);
    Files.write(path, text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1));
  }

  private void copy(String model) throws IOException {
    try (Stream<Path> files = Files.list(TinyModels.path(model))) {
      for (Path file : files.toList()) {
        Files.write(directory.resolve(file.getFileName()), Files.readAllBytes(file));
      }
    }
  }

  private void refused(String part) {
    assertThatThrownBy(() -> ModelFile.open(directory, directory))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining(directory.toString())
        .hasMessageContaining(part);
  }
}
