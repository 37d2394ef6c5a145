package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.Cli;
import io.radixflow.models.TinyChatModel;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path directory;
  private Path model;

  @BeforeEach
  void writeAModel() throws IOException {
    model = TinyChatModel.write(directory.resolve("tiny"));
  }

  private Cli.Result show() {
    return new Cli().run("model", "--device", "cpu", "--model", model.toString());
  }

  private void change(String field, Object value) throws IOException {
    File file = model.resolve("config.json").toFile();
    ObjectNode config = (ObjectNode) JSON.readTree(file);
    config.set(field, JSON.valueToTree(value));
    JSON.writeValue(file, config);
  }

  @Test
  void showsWhatAModelIsAndWhatItTakes() {
    Cli.Result result = show();

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .containsPattern("format +Hugging Face directory, architecture llama")
        .containsPattern("shape +llama: 2 layers, hidden 72, MLP 104, 2 heads")
        .containsPattern("tokenizer +258 tokens")
        .containsPattern("chat template +calls of functions as hermes\n")
        .containsPattern("weights +\\d.* in memory, \\d.* in the file")
        .containsPattern("outside the heap +\\d.* of weights and work space")
        .containsPattern("on the CPU +fits")
        .containsPattern("on a GPU +\\d.* of weights")
        .containsPattern("KV pool +\\d+ pages");
  }

  @Test
  void showsTheTokenizerAndTheTemplateOfAnArchitectureThatIsNotServed() throws IOException {
    change("model_type", "mamba2");
    Cli.Result result = show();

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out())
        .contains("architecture mamba2")
        .containsPattern("tokenizer +258 tokens")
        .contains("chat template")
        .doesNotContain("shape", "not supported");
    assertThat(result.err()).contains("architecture 'mamba2' is not supported; supported: llama");
  }

  @Test
  void showsTheShapeOfAModelWhoseTokenizerIsMissing() throws IOException {
    Files.delete(model.resolve("tokenizer.json"));
    Cli.Result result = show();

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).containsPattern("shape +llama: 2 layers").doesNotContain("tokenizer");
    assertThat(result.err()).contains("tokenizer.json is missing");
  }

  @Test
  void namesEachPartThatIsNotSupported() throws IOException {
    change("model_type", "mamba2");
    Files.delete(model.resolve("tokenizer.json"));
    Cli.Result result = show();

    assertThat(result.out())
        .containsPattern("tokenizer +not supported: .*tokenizer.json is missing");
    assertThat(result.err()).contains("architecture 'mamba2' is not supported");
  }

  @Test
  void showsTheBytesOfEachKindOfLayerAndThePagesThatHaveThemAll() {
    Cli.Result result = new Cli().run("model", "--model", "sim:window=64");

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("16 bytes per token (1 layers full: 8; 1 layers window of 64: 8)")
        .contains("1024 pages of 16 tokens, 512 of them with all layers, 0.2 MB");
  }

  @Test
  void aModelWithoutWindowsHasOneKindOfPage() {
    Cli.Result result = new Cli().run("model", "--model", "sim");

    assertThat(result.out())
        .contains(" 8 bytes per token\n")
        .contains("pages of 16 tokens, 0.1 MB");
  }
}
