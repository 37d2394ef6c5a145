package io.radixflow.models.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.ModelFormatException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of a model directory that are not what they should be: served, or refused by name. */
@Timeout(60)
class OddModelFilesTest {

  private static final String INDEX = "model.safetensors.index.json";

  @TempDir Path directory;

  private String config;

  @BeforeEach
  void write() throws IOException {
    config =
        TinyDirectory.CONFIGS.stream()
            .filter(one -> one.contains("\"llama3\""))
            .findFirst()
            .orElseThrow();
    TinyDirectory.write(directory, config);
  }

  @ParameterizedTest
  @ValueSource(strings = {"config.json", "model.safetensors"})
  void aPipeInPlaceOfAFileIsRefused(String name) throws Exception {
    Files.delete(directory.resolve(name));
    pipe(name);
    assertRefused(name + ": it is a pipe, a device or a socket, not a file");
  }

  @ParameterizedTest
  @ValueSource(strings = {"config.json", "model.safetensors", INDEX})
  void aDirectoryInPlaceOfAFileIsRefused(String name) throws IOException {
    Files.deleteIfExists(directory.resolve(name));
    Files.deleteIfExists(directory.resolve("model.safetensors"));
    Files.createDirectory(directory.resolve(name));
    assertRefused(name + ": it is a directory, not a file");
  }

  @Test
  void aPipeThatIsNamedAsTheModelIsRefused() throws Exception {
    Path pipe = pipe("model.gguf");
    assertThatThrownBy(() -> ModelFile.open(pipe))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("not a file");
    assertThatThrownBy(() -> ModelFile.readMetadata(pipe)).hasMessageContaining("not a file");
    assertThatThrownBy(() -> ModelFile.open(Path.of("/dev/zero")))
        .hasMessageContaining("not a file");
  }

  @Test
  void linksThatLeadNowhereOrInCirclesAreNamed() throws IOException {
    Path weights = directory.resolve("model.safetensors");
    Files.delete(weights);
    Files.createSymbolicLink(weights, directory.resolve("blobs/gone"));
    assertRefused("model.safetensors");
    Files.delete(weights);
    Files.createSymbolicLink(weights, weights);
    assertRefused("model.safetensors");
    Path settings = directory.resolve("config.json");
    Files.delete(settings);
    Files.createSymbolicLink(settings, settings);
    assertRefused("config.json");
  }

  @ParameterizedTest
  @ValueSource(strings = {"config.json", "model.safetensors"})
  void anEmptyFileIsRefused(String name) throws IOException {
    Files.write(directory.resolve(name), new byte[0]);
    assertRefused(name);
  }

  @Test
  void aByteOrderMarkIsSkipped() throws IOException {
    Files.write(directory.resolve("config.json"), ("\uFEFF" + config).getBytes(UTF_8));
    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(model.config().layers()).isEqualTo(2);
    }
  }

  @Test
  void anIndexThatIsLeftNextToWholeWeightsDoesNotMatter() throws IOException {
    Files.writeString(
        directory.resolve(INDEX),
        "{\"weight_map\": {\"model.norm.weight\": \"model-00001-of-00002.safetensors\"}}");
    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(model.config().layers()).isEqualTo(2);
    }
    Files.delete(directory.resolve("model.safetensors"));
    assertRefused("1 of its 1 files are missing: model-00001-of-00002.safetensors");
  }

  @Test
  void anIndexThatIsNoneIsRefused() throws IOException {
    Files.delete(directory.resolve("model.safetensors"));
    Files.writeString(directory.resolve(INDEX), "{\"weight_map\": {\"a\": \"../x.safetensors\"}}");
    assertRefused("is not the name of a safetensors file");
    Files.writeString(directory.resolve(INDEX), "{}");
    assertRefused("weight_map names 0 files");
  }

  @Test
  void notANumberIsReadWhereNothingNeedsItAndRefusedByNameElsewhere() throws IOException {
    field("\"router_z_loss\": NaN, \"other\": [Infinity, -Infinity]");
    try (ModelFile model = ModelFile.open(directory)) {
      assertThat(model.config().layers()).isEqualTo(2);
    }
    field("\"rope_theta\": NaN");
    assertRefused("rope_theta is NaN");
    field("\"rope_theta\": Infinity");
    assertRefused("rope_theta is Infinity");
    field("\"rope_theta\": -1");
    assertRefused("rope base");
    field("\"sliding_window\": NaN, \"model_type\": \"mistral\"");
    assertRefused("sliding_window");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      value = {
        "\"rope_scaling\": {\"rope_type\": \"spiral\", \"factor\": 2} # type 'spiral'",
        "\"rope_scaling\": {\"rope_type\": 7} # rope_type is not a text",
        "\"rope_scaling\": \"dynamic\" # rope_scaling is not an object",
        "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": NaN} # factor is NaN",
        "\"rope_parameters\": {\"rope_type\": \"spiral\"}, \"rope_scaling\": null # spiral",
        "\"vocab_size\": 4294967295 # vocab_size",
        "\"vocab_size\": -1 # vocab_size",
        "\"model_type\": \"mistral\", \"sliding_window\": 4294967296 # sliding_window",
        "\"model_type\": \"mistral\", \"sliding_window\": 16.5 # sliding_window",
        "\"model_type\": \"olmo3\", \"layer_types\": [] # layer_types",
        "\"num_hidden_layers\": 0 # num_hidden_layers",
        "\"num_hidden_layers\": 1e3 # num_hidden_layers",
        "\"hidden_size\": \"64\" # hidden_size",
        "\"model_type\": \"perceptron\" # perceptron",
      })
  void fieldsThatCannotBeServedAreRefusedByName(String fields, String message) throws IOException {
    field(fields);
    assertRefused(message);
  }

  /** Replaces or adds fields of config.json, as text: they need not be JSON. */
  private void field(String fields) throws IOException {
    ObjectNode others = (ObjectNode) new ObjectMapper().readTree(config);
    Matcher names = Pattern.compile("\"(\\w+)\":").matcher(fields);
    while (names.find()) {
      others.remove(names.group(1));
    }
    Files.writeString(
        directory.resolve("config.json"), "{" + fields + ", " + others.toString().substring(1));
  }

  private Path pipe(String name) throws Exception {
    Path pipe = directory.resolve(name);
    Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
    assertThat(made.waitFor(10, TimeUnit.SECONDS)).isTrue();
    return pipe;
  }

  private void assertRefused(String message) {
    assertThatThrownBy(() -> ModelFile.open(directory).close())
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining(message);
  }
}
