package io.radixflow.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.models.file.GgufConversion;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.TinyDirectory;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.tokenizer.DjlOracle;
import io.radixflow.text.tokenizer.GgufHeader;
import io.radixflow.text.tokenizer.TinyVocabulary;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TextModelDirectoryTest {

  private static final List<Message> HELLO = List.of(new Message("user", "hello"));

  @TempDir Path directory;

  private ObjectNode tokenizer;

  @BeforeEach
  void writeTokenizer() throws IOException {
    tokenizer = DjlOracle.byteLevelJson(TinyVocabulary.get().metadata("qwen2"), true);
    write("tokenizer.json", tokenizer.toString());
  }

  @Test
  void endOfTurnTokensComeFromAllDeclarations() throws IOException {
    write("tokenizer_config.json", "{\"eos_token\": {\"content\": \"<|end|>\"}}");
    assertThat(read().tokenizer().endOfTurnIds()).containsExactly(0);
    write("generation_config.json", "{\"eos_token_id\": [1]}");
    assertThat(read().tokenizer().endOfTurnIds()).containsExactly(0, 1);
    write("generation_config.json", "{}");
    write("config.json", "{\"eos_token_id\": 2}");
    assertThat(read().tokenizer().endOfTurnIds()).containsExactly(0, 2);
  }

  @Test
  void whatComesBeforeAPlainPromptIsDeclaredByThePostProcessorOrTheConfig() throws IOException {
    write("tokenizer_config.json", "{\"bos_token\": \"<|start|>\"}");
    assertThat(read().promptStart()).isEmpty();
    write("tokenizer_config.json", "{\"bos_token\": \"<|start|>\", \"add_bos_token\": true}");
    assertThat(read().promptStart()).containsExactly(1);
    write("tokenizer_config.json", "{}");
    String template =
        "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\":"
            + " \"<|start|>\"}}, {\"Sequence\": {\"id\": \"A\"}}, {\"SpecialToken\": {\"id\":"
            + " \"<|end|>\"}}]}";
    set("/post_processor", DjlOracle.JSON.readTree(template));
    assertThat(read().promptStart()).containsExactly(1);
    String sequence =
        "{\"type\": \"Sequence\", \"processors\": [{\"type\": \"ByteLevel\"}, " + template;
    set("/post_processor", DjlOracle.JSON.readTree(sequence + "]}"));
    assertThat(read().promptStart()).containsExactly(1);
  }

  @Test
  void theTemplateComesFromItsFileOrTheConfig() throws IOException {
    assertThatThrownBy(() -> read().chatTemplate().render(HELLO, true, TemplateOptions.NONE))
        .isInstanceOf(ChatTemplateException.class);
    write("tokenizer_config.json", "{\"chat_template\": \"A{{ eos_token }}\"}");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE)).isEqualTo("A");
    write(
        "tokenizer_config.json",
        "{\"eos_token\": \"<|end|>\", \"chat_template\": [{\"name\": \"tool_use\", \"template\":"
            + " \"T\"}, {\"name\": \"default\", \"template\": \"B{{ eos_token }}\"}]}");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE))
        .isEqualTo("B<|end|>");
    write("chat_template.jinja", "C");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE)).isEqualTo("C");
  }

  @Test
  void aConvertedFileHasTheSameTokenizerAndTemplate() throws IOException {
    String config =
        TinyDirectory.CONFIGS.stream()
            .filter(one -> one.contains("\"qwen2\""))
            .findFirst()
            .orElseThrow();
    TinyDirectory.write(directory, config);
    write("tokenizer_config.json", "{\"chat_template\": \"A{{ messages[0].content }}\"}");
    Path gguf = GgufConversion.convert(directory, directory.resolve("model.gguf"));
    TextModel converted = TextModel.fromGguf(ModelFile.readMetadata(gguf));
    for (String text : List.of("the tea", " 12,345\n\n", "é 中文 🎈", "<|end|><think>")) {
      assertThat(converted.tokenizer().encode(text)).isEqualTo(read().tokenizer().encode(text));
      assertThat(converted.tokenizer().encodeWithSpecial(text))
          .isEqualTo(read().tokenizer().encodeWithSpecial(text));
    }
    assertThat(converted.chatTemplate().render(HELLO, true, TemplateOptions.NONE))
        .isEqualTo("Ahello");
  }

  @Test
  void missingAndBrokenFilesAreNamed() throws IOException {
    write("tokenizer.json", "{");
    assertRefused("tokenizer.json: not valid JSON");
    write("tokenizer.json", "{\"model\": {}, \"model\": {}}");
    assertRefused("Duplicate field 'model'");
    Files.delete(directory.resolve("tokenizer.json"));
    assertRefused("tokenizer.json is missing");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "/model/type # `\"WordPiece\"` # WordPiece",
        "/model/continuing_subword_prefix # `\"##\"` # continuing_subword_prefix",
        "/normalizer # `{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"\"}` #"
            + " precompiled_charsmap of 0 bytes",
        "/pre_tokenizer # `{\"type\": \"UnicodeScripts\"}` # byte_fallback",
        "/pre_tokenizer # `{\"type\": \"Whitespace\"}` # byte_fallback",
        "/added_tokens/0/id # -5 # -5",
        "/added_tokens/0/id # 4000000000 # 4000000000",
        "/model/merges # `[\"onlyone\"]` # onlyone",
        "/model/merges # null # model.merges is missing",
        "/added_tokens/0/id # 4294967295 # 4294967295",
        "/added_tokens/0/id # 1.5 # 1.5",
      })
  void unsupportedFeaturesAreRefusedByName(String pointer, String value, String message)
      throws IOException {
    set(pointer, DjlOracle.JSON.readTree(value));
    assertRefused(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      value = {
        "4294967295 # 4294967295",
        "[0, 4294967295] # 4294967295",
        "-1 # -1",
        "9000000 # 9000000",
        "\"<|end|>\" # <|end|>",
        "NaN # NaN",
      })
  void anEndThatIsNoTokenIsRefused(String id, String message) throws IOException {
    write("generation_config.json", "{\"eos_token_id\": " + id + "}");
    assertRefused("eos_token_id is");
    assertRefused(message);
  }

  @Test
  void filesWithAByteOrderMarkAreRead() throws IOException {
    write("tokenizer.json", "\uFEFF" + tokenizer);
    write("tokenizer_config.json", "\uFEFF{\"eos_token\": \"<|end|>\"}");
    write("chat_template.jinja", "\uFEFFA{{ eos_token }}");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE))
        .isEqualTo("A<|end|>");
  }

  @Test
  void templatesAreDeclaredInEveryFormOrRefusedByName() throws IOException {
    write("chat_template.json", "{\"chat_template\": \"P\"}");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE)).isEqualTo("P");
    write(
        "tokenizer_config.json", "{\"chat_template\": {\"tool_use\": \"T\", \"default\": \"D\"}}");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE)).isEqualTo("D");
    write("tokenizer_config.json", "{\"chat_template\": null}");
    assertThat(read().chatTemplate().render(HELLO, true, TemplateOptions.NONE)).isEqualTo("P");
    for (String odd : List.of("[\"x\"]", "[{\"name\": \"default\"}]", "7", "{\"default\": 7}")) {
      write("tokenizer_config.json", "{\"chat_template\": " + odd + "}");
      assertRefused("chat_template: ");
    }
    write("tokenizer_config.json", "{}");
    write("chat_template.jinja", "\n");
    assertRefused("chat_template.jinja is empty");
  }

  @Test
  void aDirectoryInPlaceOfAFileIsRefused() throws IOException {
    for (String name :
        List.of("tokenizer_config.json", "generation_config.json", "chat_template.jinja")) {
      Files.createDirectory(directory.resolve(name));
      assertRefused(name + ": it is a directory, not a file");
      Files.delete(directory.resolve(name));
    }
    Files.delete(directory.resolve("tokenizer.json"));
    Files.createDirectory(directory.resolve("tokenizer.json"));
    assertRefused("tokenizer.json: it is a directory, not a file");
  }

  @Test
  void aVocabularyOfMillionsIsRefusedBeforeItIsHeld() throws IOException {
    StringBuilder entries = new StringBuilder(60 << 20);
    for (int id = 0; id < 3_000_000; id++) {
      entries.append(id == 0 ? "" : ",").append("\"t").append(id).append("\":").append(id);
    }
    write("tokenizer.json", "{\"model\": {\"type\": \"BPE\", \"vocab\": {" + entries + "}}}");
    assertRefused("tokenizer.json: not valid JSON: Token count (5000001) exceeds the maximum");
  }

  @Test
  void textIsComposedWhereTheModelSaysSo() throws IOException {
    set("/normalizer", DjlOracle.JSON.readTree("{\"type\": \"NFC\"}"));
    Tokenizer nfc = read().tokenizer();
    assertThat(nfc.encode("e\u0301")).isEqualTo(nfc.encode("\u00e9"));
  }

  @Test
  void addedTokensSwallowSpacesWhereTheySaySo() throws IOException {
    set("/added_tokens/0/rstrip", DjlOracle.JSON.readTree("true"));
    set("/added_tokens/1/lstrip", DjlOracle.JSON.readTree("true"));
    Tokenizer own = read().tokenizer();
    DjlOracle oracle = new DjlOracle(tokenizer);
    for (String text : List.of("a <|end|> \n b", "a \t<|start|> b", "<|end|>  <|start|>", " ")) {
      assertThat(own.encodeWithSpecial(text)).isEqualTo(oracle.encode(text));
    }
  }

  @Test
  void otherPatternsRunAsRegularExpressions() throws IOException {
    String pattern = "[A-Z]?[a-z]+|\\\\s|.";
    set(
        "/pre_tokenizer",
        DjlOracle.JSON.readTree(
            "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\":"
                + " {\"Regex\": \""
                + pattern
                + "\"}, \"behavior\": \"Removed\", \"invert\": true}, {\"type\": \"Split\","
                + " \"pattern\": {\"String\": \"th\"}, \"behavior\": \"Isolated\", \"invert\":"
                + " false}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false,"
                + " \"trim_offsets\": true, \"use_regex\": false}]}"));
    String text = "The kettle clicked off the 12345 THE them";
    assertThat(read().tokenizer().encode(text)).isEqualTo(new DjlOracle(tokenizer).encode(text));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '#',
      quoteCharacter = '`',
      value = {
        "/normalizer # `{\"type\": \"Lowercase\"}`",
        "/normalizer # `{\"type\": \"NFKC\"}`",
        "/normalizer # `{\"type\": \"Strip\", \"strip_left\": true, \"strip_right\": true}`",
        "/normalizer # `{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\","
            + " \"prepend\": \"a \"}, {\"type\": \"Replace\", \"pattern\": {\"String\": \"e\"},"
            + " \"content\": \"th\"}]}`",
        "/pre_tokenizer # `{\"type\": \"ByteLevel\", \"add_prefix_space\": true,"
            + " \"trim_offsets\": true, \"use_regex\": true}`",
        "/pre_tokenizer/pretokenizers/0 # `{\"type\": \"Punctuation\", \"behavior\":"
            + " \"MergedWithPrevious\"}`",
        "/pre_tokenizer/pretokenizers/0 # `{\"type\": \"Punctuation\", \"behavior\":"
            + " \"MergedWithNext\"}`",
        "/pre_tokenizer/pretokenizers/0 # `{\"type\": \"Digits\", \"individual_digits\": false}`",
        "/pre_tokenizer/pretokenizers/0 # `{\"type\": \"Split\", \"pattern\": {\"String\": \" \"},"
            + " \"behavior\": \"Contiguous\", \"invert\": true}`",
        "/added_tokens/2/lstrip # true",
        "/added_tokens/2/rstrip # true",
        "/added_tokens/2/single_word # true",
        "/added_tokens/2/normalized # true",
      })
  void rulesAreThoseOfHuggingFace(String pointer, String value) throws IOException {
    int slash = pointer.lastIndexOf('/');
    JsonNode parent = tokenizer.at(pointer.substring(0, slash));
    if (parent.isArray()) {
      ((ArrayNode) parent)
          .set(Integer.parseInt(pointer.substring(slash + 1)), DjlOracle.JSON.readTree(value));
      write("tokenizer.json", tokenizer.toString());
    } else {
      set(pointer, DjlOracle.JSON.readTree(value));
    }
    DjlOracle oracle = new DjlOracle(tokenizer);
    for (String text :
        List.of(
            "The KETTLE, clicked!! off...  (12345) e\u0301",
            " a<think>b <think>  c ，。 x",
            "ﬁ ½ the\n\n them's",
            "")) {
      assertThat(read().tokenizer().encodeWithSpecial(text))
          .as(text)
          .isEqualTo(oracle.encode(text));
    }
  }

  @Test
  void aPieceThatIsSpelledAsASpecialTokenStaysPlain() throws IOException {
    set("/model/ignore_merges", DjlOracle.JSON.readTree("true"));
    set(
        "/pre_tokenizer",
        DjlOracle.JSON.readTree(
            "{\"type\": \"ByteLevel\", \"add_prefix_space\": false, \"use_regex\": false}"));
    assertThat(read().tokenizer().encode("<|end|>")).hasSizeGreaterThan(1);
    assertThat(read().tokenizer().encode("<think>")).hasSizeGreaterThan(1);
    assertThat(read().tokenizer().encodeWithSpecial("<|end|>")).hasSize(1);
  }

  @Test
  void adviceAboutSamplingComesFromTheGenerationConfig() throws IOException {
    assertThat(read().samplingDefaults()).isEqualTo(SamplingDefaults.NONE);
    write(
        "generation_config.json",
        "{\"do_sample\": true, \"temperature\": 0.6, \"top_k\": 20, \"top_p\": 0.95, \"min_p\":"
            + " 0.05, \"repetition_penalty\": 1.1}");
    assertThat(read().samplingDefaults()).isEqualTo(new SamplingDefaults(0.6, 20, 0.95, 0.05, 1.1));
    write("generation_config.json", "{\"do_sample\": false}");
    assertThat(read().samplingDefaults().temperature()).isZero();
    write("generation_config.json", "{\"top_p\": 7}");
    assertRefused("generation_config.json: top_p is 7.0");
  }

  @Test
  void adviceAboutSamplingComesFromAGgufFileOrTheCard() {
    GgufHeader header = TinyVocabulary.get().header("qwen2");
    assertThat(TextModel.fromGguf(header.metadata()).samplingDefaults())
        .isEqualTo(SamplingDefaults.NONE);
    GgufHeader smol = header.with("general.name", "Smollm2 135M 8k");
    assertThat(TextModel.fromGguf(smol.metadata()).samplingDefaults())
        .isEqualTo(new SamplingDefaults(0.2, null, 0.9, null, null));
    GgufHeader advised =
        smol.with("general.sampling.temp", (double) 0.6f).with("general.sampling.top_k", 40L);
    assertThat(TextModel.fromGguf(advised.metadata()).samplingDefaults())
        .isEqualTo(new SamplingDefaults(0.6, 40, null, null, null));
  }

  @Test
  void aTokenThatAGgufFileDoesNotHaveIsNamedWithTheFile() {
    GgufHeader header =
        TinyVocabulary.get().header("qwen2").with("tokenizer.ggml.eos_token_id", 99_999_999L);
    assertThatThrownBy(() -> TextModel.fromGguf(header.metadata()))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageStartingWith(header.metadata().file() + ": tokenizer.ggml.eos_token_id is");
  }

  private void set(String pointer, JsonNode value) throws IOException {
    int slash = pointer.lastIndexOf('/');
    ((ObjectNode) tokenizer.at(pointer.substring(0, slash)))
        .set(pointer.substring(slash + 1), value);
    write("tokenizer.json", tokenizer.toString());
  }

  private void assertRefused(String message) {
    assertThatThrownBy(this::read)
        .isInstanceOf(ModelFormatException.class)
        .hasMessageStartingWith(directory.toString())
        .hasMessageContaining(message);
  }

  private TextModel read() {
    return TextModel.fromDirectory(directory);
  }

  private void write(String name, String text) throws IOException {
    Files.writeString(directory.resolve(name), text);
  }
}
