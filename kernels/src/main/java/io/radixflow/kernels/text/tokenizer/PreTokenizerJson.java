package io.radixflow.kernels.text.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.text.pretokenizer.PreTokenizer;
import io.radixflow.kernels.text.pretokenizer.PreTokenizers;
import io.radixflow.kernels.text.pretokenizer.RegexSplitter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Reads the normalizer and pre-tokenizer parts of a {@code tokenizer.json}. */
final class PreTokenizerJson {

  private PreTokenizerJson() {}

  /** Returns whether a pre-tokenizer maps text to byte characters. */
  static boolean isByteLevel(JsonNode preTokenizer) {
    return steps(preTokenizer, "pretokenizers").stream()
        .anyMatch(step -> type(step).equals("ByteLevel"));
  }

  /**
   * Returns whether a byte-level tokenizer's normalizer composes characters (NFC); null does not.
   */
  static boolean isNfc(JsonNode normalizer) {
    boolean nfc = false;
    for (JsonNode step : steps(normalizer, "normalizers")) {
      if (!type(step).equals("NFC")) {
        throw unsupported("normalizer", step);
      }
      nfc = true;
    }
    return nfc;
  }

  /** The splitter of a byte-level tokenizer. */
  static PreTokenizer byteLevel(JsonNode preTokenizer) {
    PreTokenizer chain = null;
    for (JsonNode step : steps(preTokenizer, "pretokenizers")) {
      PreTokenizer splitter = splitter(step);
      if (splitter != null) {
        chain = chain == null ? splitter : chain.then(splitter);
      }
    }
    return chain != null ? chain : (text, from, to, sink) -> sink.piece(text, from, to);
  }

  private static PreTokenizer splitter(JsonNode step) {
    switch (type(step)) {
      case "Digits":
        if (step.path("individual_digits").asBoolean(false)) {
          return PreTokenizers.digits();
        }
        throw unsupported("pre_tokenizer", step);
      case "ByteLevel":
        if (step.path("add_prefix_space").asBoolean(true)) {
          throw unsupported("pre_tokenizer", step);
        }
        return step.path("use_regex").asBoolean(true) ? PreTokenizers.gpt2() : null;
      case "Split":
        return split(step);
      default:
        throw unsupported("pre_tokenizer", step);
    }
  }

  private static PreTokenizer split(JsonNode step) {
    JsonNode pattern = step.path("pattern");
    String regex =
        pattern.has("Regex")
            ? pattern.path("Regex").asText()
            : Pattern.quote(pattern.path("String").asText());
    String behavior = step.path("behavior").asText();
    boolean invert = step.path("invert").asBoolean(false);
    if (behavior.equals("Isolated")) {
      return PreTokenizers.byPattern(regex);
    }
    if (behavior.equals("Removed") && invert) {
      return new RegexSplitter(PreTokenizers.compile(regex), false);
    }
    throw unsupported("pre_tokenizer", step);
  }

  /** Rules of a SentencePiece-like tokenizer for spaces. */
  static SentencePieceTokenizer.Spaces spaces(JsonNode normalizer, JsonNode preTokenizer) {
    SpacePrefix prefix = SpacePrefix.NEVER;
    for (JsonNode step : steps(normalizer, "normalizers")) {
      if (type(step).equals("Prepend") && isSpace(step.path("prepend"))) {
        prefix = SpacePrefix.EVERY_RUN;
      } else if (!type(step).equals("Replace")
          || !step.path("pattern").path("String").asText().equals(" ")
          || !isSpace(step.path("content"))) {
        throw unsupported("normalizer", step);
      }
    }
    boolean once = false;
    boolean splitEach = false;
    for (JsonNode step : steps(preTokenizer, "pretokenizers")) {
      if (!type(step).equals("Metaspace") || !isSpace(step.path("replacement"))) {
        throw unsupported("pre_tokenizer", step);
      }
      once = true;
      splitEach = step.path("split").asBoolean(true);
      prefix = metaspacePrefix(step);
    }
    return new SentencePieceTokenizer.Spaces(prefix, once, splitEach);
  }

  private static SpacePrefix metaspacePrefix(JsonNode step) {
    boolean legacy = step.path("add_prefix_space").asBoolean(true);
    return switch (step.path("prepend_scheme").asText(legacy ? "always" : "never")) {
      case "always" -> SpacePrefix.EVERY_RUN;
      case "first" -> SpacePrefix.FIRST_RUN;
      case "never" -> SpacePrefix.NEVER;
      default -> throw unsupported("pre_tokenizer", step);
    };
  }

  private static boolean isSpace(JsonNode text) {
    return text.asText().equals(String.valueOf(SentencePieceTokenizer.SPACE));
  }

  private static List<JsonNode> steps(JsonNode node, String listField) {
    List<JsonNode> steps = new ArrayList<>();
    if (type(node).equals("Sequence")) {
      node.path(listField).forEach(steps::add);
    } else if (node.isObject()) {
      steps.add(node);
    }
    return steps;
  }

  private static String type(JsonNode node) {
    return node.path("type").asText();
  }

  private static ModelFormatException unsupported(String part, JsonNode step) {
    return new ModelFormatException("tokenizer.json: " + part + " " + step + " is not supported");
  }
}
