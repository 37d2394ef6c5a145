package io.radixflow.text.pretokenizer;

import static io.radixflow.text.pretokenizer.PreTokenizers.GPT2_PATTERN;
import static io.radixflow.text.pretokenizer.PreTokenizers.LLAMA3_PATTERN;
import static io.radixflow.text.pretokenizer.PreTokenizers.QWEN2_PATTERN;

import io.radixflow.models.ModelFormatException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The pre-tokenizers by their names in {@code tokenizer.ggml.pre} of GGUF files. Each is the one
 * that {@code tokenizer.json} of the model with this name has.
 */
public final class NamedPreTokenizers {

  private static final String TEKKEN =
      "[^\\r"
          + "\\n"
          + "\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+|[^\\r"
          + "\\n"
          + "\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*|\\p{N}|"
          + " ?[^\\s\\p{L}\\p{N}]+[\\r"
          + "\\n"
          + "/]*|\\s*[\\r"
          + "\\n"
          + "]+|\\s+(?!\\S)|\\s+";

  private static final String CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";

  private static final String TEKKEN_CONTRACTED =
      TEKKEN
          .replace("\\p{M}]+|", "\\p{M}]+" + CONTRACTION + "?|")
          .replace("\\p{M}]*|", "\\p{M}]*" + CONTRACTION + "?|");

  private static final String O200K = TEKKEN_CONTRACTED.replace("|\\p{N}|", "|\\p{N}{1,3}|");

  private static final String KIMI =
      "[\\p{Han}]+|"
          + O200K.replace("\\p{M}]", "\\p{M}&&[^\\p{Han}]]").replace("[\\r\\n/]*", "[\\r\\n]*");

  private static final String QWEN35 =
      QWEN2_PATTERN
          .replace("?\\p{L}+", "?[\\p{L}\\p{M}]+")
          .replace("[^\\s\\p{L}\\p{N}]", "[^\\s\\p{L}\\p{M}\\p{N}]");

  private static final String BAILING =
      "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*"
          + "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";

  private static final String EXAONE_MOE =
      CONTRACTION
          + "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}"
          + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+";

  private static final String JAIS2 =
      LLAMA3_PATTERN.replace(
          "\\s+(?!\\S)|\\s+",
          "\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)"
              + "|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{1}");

  private static final String BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+";

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

  private static final Map<String, List<String>> PATTERNS = new TreeMap<>();

  static {
    name(
        "gpt-2 phi-2 olmo mpt jais trillion exaone4 granite-docling gigachat mellum a.x-4.0"
            + " modern-bert roberta-bpe jina-v1-en jina-v2-code jina-v2-de jina-v2-es jina-de"
            + " jina-es",
        GPT2_PATTERN);
    name(
        "smollm refact starcoder codeshell command-r cohere2_moe exaone minerva-7b mellum2",
        "\\p{N}",
        GPT2_PATTERN);
    name(
        "llama-bpe llama3 llama-v3 dbrx smaug-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2"
            + " jina-v5-nano glm4 chatglm-bpe",
        LLAMA3_PATTERN);
    name(
        "qwen2 deepseek-r1-qwen megrez stablelm2 hunyuan grok-2 solar-open kormo openpangu f2llmv2",
        QWEN2_PATTERN);
    name("qwen35", QWEN35);
    name("laguna", "[^\\n]+|[\\n]+", QWEN2_PATTERN);
    name("minicpm5", "\\p{N}{1,3}", LLAMA3_PATTERN.replace("{1,3}", "+"));
    name(
        "seed-coder",
        QWEN2_PATTERN.replace("[^\\s\\p{L}\\p{N}]+[\\r\\n]*", "[^\\s\\p{L}\\p{N}\\r\\n]+"));
    name("jais-2", JAIS2);
    name("bailingmoe bailingmoe2 llada-moe", BAILING);
    name("exaone-moe", EXAONE_MOE);
    name("tekken", TEKKEN);
    name("gpt-4o llama4 kanana2 minimax-m2 granite-emb-multi", O200K);
    name("tiny_aya", "\\d{1,3}(?=(?:\\d{3})*\\b)", O200K);
    name("kimi-k2", KIMI);
    name("youtu", "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+", TEKKEN_CONTRACTED);
    name("poro-chat bloom gpt3-finnish", BLOOM);
    name("viking", BLOOM, "\\p{N}");
    name("falcon", "[\\p{P}$+<=>^~|`]+", GPT2_PATTERN, "[0-9][0-9][0-9]");
    name("superbpe", "\\p{N}+", "(?=(?:\\d{3})+(?!\\d))");
    name("default", "[\\p{P}$+<=>^~|]+", GPT2_PATTERN, "\\p{N}+", "[0-9][0-9][0-9]");
    name("deepseek-llm", DEEPSEEK_LLM.toArray(String[]::new));
    name("deepseek-coder", DEEPSEEK_CODER.toArray(String[]::new));
    name("deepseek-v3 hunyuan-dense joyai-llm", DEEPSEEK_V3.toArray(String[]::new));
  }

  /** Names whose vocabularies encode a piece that is a token as that token, without merging. */
  private static final Set<String> WHOLE_WORDS =
      Set.of(
          "llama-bpe",
          "llama3",
          "llama-v3",
          "falcon3",
          "falcon-h1",
          "pixtral",
          "midm-2.0",
          "lfm2",
          "jina-v5-nano",
          "laguna",
          "youtu",
          "tekken");

  /** Names of tokenizers that bring text into Unicode's form NFC first. */
  private static final Set<String> COMPOSED =
      Set.of("qwen2", "qwen35", "deepseek-r1-qwen", "command-r", "cohere2_moe", "olmo", "mpt");

  private NamedPreTokenizers() {}

  private static void name(String names, String... patterns) {
    for (String name : names.split(" ")) {
      PATTERNS.put(name, List.of(patterns));
    }
  }

  public static Set<String> names() {
    return Collections.unmodifiableSet(PATTERNS.keySet());
  }

  /**
   * Returns the patterns of a name, each applied to the pieces of the previous pattern; null if the
   * name is not known.
   */
  public static List<String> patterns(String name) {
    return PATTERNS.get(name);
  }

  /**
   * Returns the pre-tokenizer of a name.
   *
   * @throws ModelFormatException if the name is not known; the message lists the names
   */
  public static PreTokenizer of(String name) {
    List<String> patterns = PATTERNS.get(name);
    if (patterns == null) {
      throw new ModelFormatException(
          "pre-tokenizer '" + name + "' is not supported; supported: " + PATTERNS.keySet());
    }
    return patterns.stream().map(PreTokenizers::byPattern).reduce(PreTokenizer::then).get();
  }

  /** Returns whether a piece that is a token is encoded as that token, without merging. */
  public static boolean takesWholeWords(String name) {
    return WHOLE_WORDS.contains(name);
  }

  /** Returns whether text is brought into Unicode's form NFC before it is cut. */
  public static boolean composes(String name) {
    return COMPOSED.contains(name);
  }
}
