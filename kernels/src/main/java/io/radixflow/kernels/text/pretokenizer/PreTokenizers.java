package io.radixflow.kernels.text.pretokenizer;

import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.text.pretokenizer.PatternSplitter.Behavior;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The pre-tokenizers by their patterns, and by the names that GGUF files give them. */
public final class PreTokenizers {

  private static final PreTokenizer GPT2 = new Gpt2Splitter();
  private static final PreTokenizer DIGITS = new DigitSplitter();
  private static final PreTokenizer DIGITS_THEN_GPT2 = DIGITS.then(GPT2);
  private static final PreTokenizer LLAMA3 = new Llama3Splitter(3);
  private static final PreTokenizer QWEN2 = new Llama3Splitter(1);

  private static final String GPT2_PATTERN =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

  private static final String LLAMA3_PATTERN =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static final String TEKKEN_PATTERN =
      "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+"
          + "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*"
          + "|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

  private static final String CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";

  private static final String O200K_PATTERN =
      TEKKEN_PATTERN
          .replace("\\p{M}]+|", "\\p{M}]+" + CONTRACTION + "|")
          .replace("\\p{M}]*|", "\\p{M}]*" + CONTRACTION + "|")
          .replace("|\\p{N}|", "|\\p{N}{1,3}|");

  private static final String CJK = "[一-龥ࠀ-一가-퟿]+";

  private static final List<String> DEEPSEEK_LLM =
      List.of(
          "[\\r\\n]",
          "\\s?[\\p{Lu}\\p{Ll}\\p{Lt}]+",
          "\\s?[!-/:-~！-／：-～‘-‟　-。]+",
          "\\s+$",
          CJK,
          "\\p{N}+");

  private static final List<String> DEEPSEEK_CODER =
      List.of("[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK, "\\p{N}");

  private static final List<String> DEEPSEEK_V3 =
      List.of(
          "\\p{N}{1,3}",
          "[一-龥぀-ゟ゠-ヿ]+",
          "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
              + "|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*"
              + "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");

  private static final Map<String, PreTokenizer> BY_NAME = new TreeMap<>();

  static {
    name(GPT2, "gpt-2", "phi-2", "olmo", "exaone4", "mpt", "granite-docling");
    name(DIGITS_THEN_GPT2, "smollm", "refact", "starcoder", "codeshell", "command-r", "exaone");
    name(LLAMA3, "llama-bpe", "llama3", "llama-v3", "dbrx", "smaug-bpe", "falcon3", "pixtral");
    name(LLAMA3, "glm4", "chatglm-bpe");
    name(QWEN2, "qwen2", "deepseek-r1-qwen", "megrez", "stablelm2", "hunyuan", "grok-2");
    name(byPattern(TEKKEN_PATTERN), "tekken");
    name(byPattern(O200K_PATTERN), "gpt-4o", "llama4");
    name(chain(DEEPSEEK_LLM), "deepseek-llm");
    name(chain(DEEPSEEK_CODER), "deepseek-coder");
    name(chain(DEEPSEEK_V3), "deepseek-v3");
  }

  /** Names of vocabularies that take a piece that is a token as it stands, without merging. */
  private static final Set<String> WHOLE_WORDS =
      Set.of("llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral", "tekken");

  private PreTokenizers() {}

  private static void name(PreTokenizer preTokenizer, String... names) {
    for (String name : names) {
      BY_NAME.put(name, preTokenizer);
    }
  }

  private static PreTokenizer chain(List<String> patterns) {
    return patterns.stream().map(PreTokenizers::byPattern).reduce(PreTokenizer::then).get();
  }

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
   * @throws ModelFormatException if the pattern is wrong or not supported
   */
  public static PreTokenizer byPattern(String regex) {
    return switch (regex) {
      case GPT2_PATTERN -> GPT2;
      case LLAMA3_PATTERN -> LLAMA3;
      case "\\p{N}" -> DIGITS;
      default ->
          regex.equals(LLAMA3_PATTERN.replace("{1,3}", ""))
              ? QWEN2
              : new PatternSplitter(SplitPattern.compile(regex), Behavior.ISOLATED, false);
    };
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

  /** Returns whether a vocabulary takes a piece that is a token as it stands without merging. */
  public static boolean takesWholeWords(String name) {
    return WHOLE_WORDS.contains(name);
  }
}
