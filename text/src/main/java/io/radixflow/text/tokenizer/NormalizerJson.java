package io.radixflow.text.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.text.pretokenizer.SplitPattern;
import io.radixflow.text.regex.UnicodeClasses;
import java.text.Normalizer;
import java.util.Base64;

/** Reads the normalizer of a {@code tokenizer.json}. */
final class NormalizerJson {

  private NormalizerJson() {}

  /** Returns the normalizer of a node, which may be null. */
  static TextNormalizer read(JsonNode node) {
    TextNormalizer all = TextNormalizer.NONE;
    for (JsonNode step : TokenizerJson.steps(node, "normalizers")) {
      all = all.then(one(step));
    }
    return all;
  }

  private static TextNormalizer one(JsonNode step) {
    return switch (TokenizerJson.type(step)) {
      case "Sequence" -> read(step);
      case "NFC", "NFD", "NFKC", "NFKD" ->
          TextNormalizer.form(Normalizer.Form.valueOf(TokenizerJson.type(step)));
      case "Lowercase" -> TextNormalizer.lowerCase();
      case "Prepend" -> TextNormalizer.prepend(step.path("prepend").asText());
      case "Replace" -> replace(step);
      case "Precompiled" -> precompiled(step);
      case "Strip" ->
          strip(step.path("strip_left").asBoolean(true), step.path("strip_right").asBoolean(true));
      default -> throw TokenizerJson.unsupported("normalizer", step);
    };
  }

  private static TextNormalizer replace(JsonNode step) {
    String content = step.path("content").asText();
    JsonNode regex = step.path("pattern").path("Regex");
    if (regex.isTextual()) {
      return SplitPattern.compile(regex.asText()).replacer(content)::apply;
    }
    JsonNode found = step.path("pattern").path("String");
    if (!found.isTextual() || found.asText().isEmpty()) {
      throw TokenizerJson.unsupported("normalizer", step);
    }
    return TextNormalizer.replace(found.asText(), content);
  }

  private static TextNormalizer precompiled(JsonNode step) {
    try {
      byte[] map = Base64.getDecoder().decode(step.path("precompiled_charsmap").asText());
      return new PrecompiledCharsmap(map)::byCluster;
    } catch (IllegalArgumentException e) {
      throw new ModelFormatException("tokenizer.json: precompiled_charsmap is not base64", e);
    }
  }

  private static TextNormalizer strip(boolean left, boolean right) {
    return text -> {
      int from = 0;
      int to = text.length();
      while (left && from < to && isSpace(text.charAt(from))) {
        from++;
      }
      while (right && to > from && isSpace(text.charAt(to - 1))) {
        to--;
      }
      return text.substring(from, to);
    };
  }

  private static boolean isSpace(char c) {
    return UnicodeClasses.of(c) == UnicodeClasses.SPACE;
  }
}
