package io.radixflow.text.pretokenizer;

import io.radixflow.models.ModelFormatException;
import io.radixflow.text.pretokenizer.PatternSplitter.Behavior;

/** Finds pre-tokenizers by their patterns. */
public final class PreTokenizers {

  private static final PreTokenizer GPT2 = new Gpt2Splitter();
  private static final PreTokenizer DIGITS = new DigitSplitter();
  private static final PreTokenizer LLAMA3 = new Llama3Splitter(3);
  private static final PreTokenizer QWEN2 = new Llama3Splitter(1);

  static final String GPT2_PATTERN =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

  static final String LLAMA3_PATTERN =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  /** The pattern of Qwen 2: the pattern of Llama 3, but with one digit per piece. */
  static final String QWEN2_PATTERN = LLAMA3_PATTERN.replace("{1,3}", "");

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
   * The splitter that isolates the matches of a pattern. For a known pattern it is a scanner.
   *
   * @throws ModelFormatException if the pattern is wrong or not supported
   */
  public static PreTokenizer byPattern(String regex) {
    return switch (regex) {
      case GPT2_PATTERN -> GPT2;
      case LLAMA3_PATTERN -> LLAMA3;
      case "\\p{N}" -> DIGITS;
      default ->
          regex.equals(QWEN2_PATTERN)
              ? QWEN2
              : new PatternSplitter(SplitPattern.compile(regex), Behavior.ISOLATED, false);
    };
  }
}
