package io.radixflow.kernels.text.pretokenizer;

import io.radixflow.kernels.model.ModelFormatException;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** The pre-tokenizers by the names that GGUF files give them ({@code tokenizer.ggml.pre}). */
public final class PreTokenizers {

  private static final PreTokenizer GPT2 = new Gpt2Splitter();
  private static final PreTokenizer DIGITS = new DigitSplitter();
  private static final PreTokenizer DIGITS_THEN_GPT2 = DIGITS.then(GPT2);
  private static final PreTokenizer LLAMA3 = new Llama3Splitter(3);
  private static final PreTokenizer QWEN2 = new Llama3Splitter(1);

  private static final Map<String, PreTokenizer> BY_NAME =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("gpt-2", GPT2),
              Map.entry("smollm", DIGITS_THEN_GPT2),
              Map.entry("refact", DIGITS_THEN_GPT2),
              Map.entry("starcoder", DIGITS_THEN_GPT2),
              Map.entry("codeshell", DIGITS_THEN_GPT2),
              Map.entry("llama-bpe", LLAMA3),
              Map.entry("llama3", LLAMA3),
              Map.entry("llama-v3", LLAMA3),
              Map.entry("qwen2", QWEN2)));

  private static final String GPT2_PATTERN =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

  private static final String LLAMA3_PATTERN =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static final Map<String, PreTokenizer> BY_PATTERN =
      Map.of(
          GPT2_PATTERN,
          GPT2,
          LLAMA3_PATTERN,
          LLAMA3,
          LLAMA3_PATTERN.replace("{1,3}", ""),
          QWEN2,
          "\\p{N}",
          DIGITS);

  private PreTokenizers() {}

  /** The splitter of GPT-2's pattern. */
  public static PreTokenizer gpt2() {
    return GPT2;
  }

  /** The splitter that isolates number characters. */
  public static PreTokenizer digits() {
    return DIGITS;
  }

  /**
   * The splitter that isolates the matches of a pattern, a scanner if it is a known one.
   *
   * @throws ModelFormatException if the pattern is not one of Java's
   */
  public static PreTokenizer byPattern(String regex) {
    PreTokenizer known = BY_PATTERN.get(regex);
    return known != null ? known : new RegexSplitter(compile(regex), true);
  }

  /**
   * Compiles a pattern of a model file.
   *
   * @throws ModelFormatException if the pattern is not one of Java's
   */
  public static Pattern compile(String regex) {
    try {
      return Pattern.compile(regex, Pattern.UNICODE_CHARACTER_CLASS);
    } catch (PatternSyntaxException e) {
      throw new ModelFormatException("pre-tokenizer pattern is not supported: " + regex, e);
    }
  }

  /**
   * The pre-tokenizer of a name.
   *
   * @throws ModelFormatException if there is none, with the names that there are
   */
  public static PreTokenizer byName(String name) {
    PreTokenizer found = BY_NAME.get(name);
    if (found == null) {
      throw new ModelFormatException(
          "pre-tokenizer '" + name + "' is not supported; supported: " + BY_NAME.keySet());
    }
    return found;
  }

  /** Returns whether a piece that is a token as it stands is taken without merging. */
  public static boolean takesWholeWords(PreTokenizer preTokenizer) {
    return preTokenizer == LLAMA3;
  }
}
