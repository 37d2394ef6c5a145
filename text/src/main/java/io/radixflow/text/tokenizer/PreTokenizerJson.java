package io.radixflow.text.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.text.pretokenizer.Metaspace;
import io.radixflow.text.pretokenizer.PatternSplitter;
import io.radixflow.text.pretokenizer.PatternSplitter.Behavior;
import io.radixflow.text.pretokenizer.PreTokenizer;
import io.radixflow.text.pretokenizer.PreTokenizers;
import io.radixflow.text.pretokenizer.SplitPattern;

/** Reads the pre-tokenizer of a {@code tokenizer.json}. */
final class PreTokenizerJson {

  private static final PreTokenizer WHOLE = (text, from, to, sink) -> sink.piece(text, from, to);

  /** The punctuation of ASCII and Unicode. */
  private static final String PUNCTUATION = "[\\p{P}$+<=>^`|~]";

  /**
   * The pattern of the Whitespace pre-tokenizer: words, and runs of characters that are neither
   * word nor space. Unlike in {@link SplitPattern}, superscripts and fractions of Latin 1 are not
   * part of words.
   */
  private static final String WORDS = "[\\w&&[^²³¹¼½¾]]+|[[^\\w\\s]²³¹¼½¾]+";

  private final boolean first;

  private PreTokenizerJson(boolean first) {
    this.first = first;
  }

  /** Returns whether a pre-tokenizer converts text to byte characters. */
  static boolean isByteLevel(JsonNode node) {
    return TokenizerJson.steps(node, "pretokenizers").stream()
        .anyMatch(step -> TokenizerJson.type(step).equals("ByteLevel"));
  }

  /** Returns whether a pre-tokenizer puts U+2581 before the first piece. */
  static boolean prefixes(JsonNode node) {
    return TokenizerJson.steps(node, "pretokenizers").stream()
        .anyMatch(
            step ->
                TokenizerJson.type(step).equals("Metaspace")
                    && prefix(step) != Metaspace.Prefix.NEVER);
  }

  /**
   * Returns the splitter of a node, which may be null.
   *
   * @param first whether the splitter is for the first run of a text
   */
  static PreTokenizer read(JsonNode node, boolean first) {
    return new PreTokenizerJson(first).chain(node);
  }

  private PreTokenizer chain(JsonNode node) {
    PreTokenizer chain = null;
    for (JsonNode step : TokenizerJson.steps(node, "pretokenizers")) {
      PreTokenizer splitter = splitter(step);
      if (splitter != WHOLE) {
        chain = chain == null ? splitter : chain.then(splitter);
      }
    }
    return chain == null ? WHOLE : chain;
  }

  private PreTokenizer splitter(JsonNode step) {
    return switch (TokenizerJson.type(step)) {
      case "Sequence" -> chain(step);
      case "Digits" -> digits(step.path("individual_digits").asBoolean(false));
      case "ByteLevel" -> byteLevel(step);
      case "Split" -> split(step);
      case "Punctuation" ->
          pattern(SplitPattern.compile(PUNCTUATION), behavior(step, "Isolated"), false);
      case "Whitespace" -> pattern(SplitPattern.compile(WORDS), Behavior.REMOVED, true);
      case "WhitespaceSplit" -> pattern(SplitPattern.compile("\\s"), Behavior.REMOVED, false);
      case "CharDelimiterSplit" ->
          pattern(SplitPattern.literal(step.path("delimiter").asText()), Behavior.REMOVED, false);
      case "Metaspace" -> metaspace(step);
      default -> throw TokenizerJson.unsupported("pre_tokenizer", step);
    };
  }

  private static PreTokenizer pattern(SplitPattern pattern, Behavior behavior, boolean inverted) {
    return new PatternSplitter(pattern, behavior, inverted);
  }

  private static PreTokenizer digits(boolean individual) {
    return individual
        ? PreTokenizers.digits()
        : pattern(SplitPattern.compile("\\p{N}"), Behavior.CONTIGUOUS, false);
  }

  private static PreTokenizer byteLevel(JsonNode step) {
    PreTokenizer cut = step.path("use_regex").asBoolean(true) ? PreTokenizers.gpt2() : WHOLE;
    if (!step.path("add_prefix_space").asBoolean(true)) {
      return cut;
    }
    return (text, from, to, sink) -> {
      if (from < to && text[from] != ' ') {
        char[] spaced = (" " + new String(text, from, to - from)).toCharArray();
        cut.split(spaced, 0, spaced.length, sink);
      } else {
        cut.split(text, from, to, sink);
      }
    };
  }

  private static PreTokenizer split(JsonNode step) {
    JsonNode pattern = step.path("pattern");
    Behavior behavior = behavior(step, "");
    boolean inverted = step.path("invert").asBoolean(false);
    JsonNode regex = pattern.path("Regex");
    if (regex.isTextual() && behavior == Behavior.ISOLATED) {
      return PreTokenizers.byPattern(regex.asText());
    }
    JsonNode literal = pattern.path("String");
    if (!regex.isTextual() && !literal.isTextual()) {
      throw TokenizerJson.unsupported("pre_tokenizer", step);
    }
    SplitPattern compiled =
        regex.isTextual()
            ? SplitPattern.compile(regex.asText())
            : SplitPattern.literal(literal.asText());
    return pattern(compiled, behavior, inverted);
  }

  private static Behavior behavior(JsonNode step, String absent) {
    Behavior behavior = Behavior.of(step.path("behavior").asText(absent));
    if (behavior == null) {
      throw TokenizerJson.unsupported("pre_tokenizer", step);
    }
    return behavior;
  }

  private PreTokenizer metaspace(JsonNode step) {
    if (!step.path("replacement").asText().equals(String.valueOf(Metaspace.SPACE))) {
      throw TokenizerJson.unsupported("pre_tokenizer", step);
    }
    Metaspace.Prefix prefix = prefix(step);
    boolean later = prefix == Metaspace.Prefix.FIRST && !first;
    return new Metaspace(
        later ? Metaspace.Prefix.NEVER : prefix, step.path("split").asBoolean(true));
  }

  private static Metaspace.Prefix prefix(JsonNode step) {
    boolean legacy = step.path("add_prefix_space").asBoolean(true);
    return switch (step.path("prepend_scheme").asText(legacy ? "always" : "never")) {
      case "always" -> Metaspace.Prefix.ALWAYS;
      case "first" -> Metaspace.Prefix.FIRST;
      case "never" -> Metaspace.Prefix.NEVER;
      default -> throw TokenizerJson.unsupported("pre_tokenizer", step);
    };
  }
}
