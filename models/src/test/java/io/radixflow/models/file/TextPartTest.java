package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.file.QuantisedCopy.Stored;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Of a checkpoint that reads images, too, the text model is served. */
class TextPartTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path directory;

  private Path text(String type) throws IOException {
    String config =
        TinyDirectory.all().stream()
            .filter(one -> one.contains("\"" + type + "\""))
            .findFirst()
            .orElseThrow();
    return TinyDirectory.write(directory.resolve("text"), config);
  }

  /** Wraps a model of text as the library saves it within one that reads images. */
  private Path wrap(Path text, String type, String form) throws IOException {
    Path whole = Files.createDirectories(directory.resolve("whole"));
    ObjectNode config = JSON.createObjectNode().put("model_type", type);
    config.set("text_config", JSON.readTree(text.resolve("config.json").toFile()));
    JSON.writeValue(whole.resolve("config.json").toFile(), config);
    Map<String, Stored> tensors = new LinkedHashMap<>();
    QuantisedCopy.read(text.resolve("model.safetensors"))
        .forEach((name, tensor) -> tensors.put(name(name, form), tensor));
    Stored image = new Stored("F32", new long[] {1}, new byte[4]);
    String prefix = form.equals("5") ? "model." : "";
    tensors.put(prefix + "vision_tower.patch_conv.weight", image);
    tensors.put(prefix + "multi_modal_projector.linear_1.weight", image);
    QuantisedCopy.write(whole, tensors);
    return whole;
  }

  /** The name of a tensor as version 4 of the library has it, and as version 5 does. */
  private static String name(String name, String form) {
    if (form.equals("4")) {
      return "language_model." + name;
    }
    return name.replaceFirst("^model\\.", "model.language_model.");
  }

  @ParameterizedTest
  @CsvSource({
    "gemma3_text, gemma3, 4",
    "gemma3_text, gemma3, 5",
    "ministral3, mistral3, 4",
    "mistral, mistral3, 5"
  })
  void theTextModelIsTheOneThatIsSavedAlone(String type, String outer, String form)
      throws IOException {
    Path text = text(type);
    try (ModelFile alone = ModelFile.open(text, directory);
        ModelFile part = ModelFile.open(wrap(text, outer, form), directory)) {
      assertThat(part.config().architecture()).isEqualTo(type);
      assertThat(part.config().blocks()).isEqualTo(alone.config().blocks());
      assertThat(part.config().tiedEmbedding()).isEqualTo(alone.config().tiedEmbedding());
      for (String name : GraphTensors.of(alone.config()).keySet()) {
        assertThat(lastRow(part.tensor(name))).as(name).isEqualTo(lastRow(alone.tensor(name)));
      }
    }
  }

  private static float[] lastRow(Tensor tensor) {
    float[] row = new float[tensor.columns()];
    tensor.dequantize(tensor.rows() - 1, row, 0);
    return row;
  }

  @Test
  void aTensorOfTheTextModelThatIsMissingIsNamed() throws IOException {
    Path whole = wrap(text("gemma3_text"), "gemma3", "4");
    Map<String, Stored> tensors = QuantisedCopy.read(whole.resolve("model.safetensors"));
    tensors.remove("language_model.model.norm.weight");
    QuantisedCopy.write(whole, tensors);
    assertThatThrownBy(() -> ModelFile.open(whole, directory))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("model.norm.weight is missing");
  }

  @Test
  void theSummaryNamesTheWholeModel() throws IOException {
    assertThat(ModelFile.summary(wrap(text("gemma3_text"), "gemma3", "4")))
        .isEqualTo("Hugging Face directory, architecture gemma3, only its text part");
  }

  @Test
  void fieldsBesideTheConfigurationOfTheTextCountUnlessItHasThem() throws IOException {
    String json =
        "{'model_type':'gemma3','quantization_config':{'quant_method':'fp8'},"
            + "'tie_word_embeddings':false,'text_config':{'tie_word_embeddings':true}}";
    assertThat(TextPart.config(JSON.readTree(json.replace('\'', '"'))))
        .isEqualTo(
            JSON.readTree(
                "{\"tie_word_embeddings\":true,\"model_type\":\"gemma3_text\","
                    + "\"quantization_config\":{\"quant_method\":\"fp8\"}}"));
  }
}
