package io.radixflow.kernels.text;

import io.radixflow.kernels.model.ModelFormatException;
import java.util.Map;
import java.util.TreeMap;

/** The pre-tokenizers by the names that GGUF files give them ({@code tokenizer.ggml.pre}). */
final class PreTokenizers {

  private static final PreTokenizer GPT2 = new Gpt2Splitter();
  private static final PreTokenizer DIGITS_THEN_GPT2 = new DigitSplitter(GPT2);
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

  private PreTokenizers() {}

  /**
   * The pre-tokenizer of a name.
   *
   * @throws ModelFormatException if there is none, with the names that there are
   */
  static PreTokenizer byName(String name) {
    PreTokenizer found = BY_NAME.get(name);
    if (found == null) {
      throw new ModelFormatException(
          "pre-tokenizer '" + name + "' is not supported; supported: " + BY_NAME.keySet());
    }
    return found;
  }

  /** Whether pieces that are tokens as they stand are taken without merging. */
  static boolean takesWholeWords(PreTokenizer preTokenizer) {
    return preTokenizer == LLAMA3;
  }
}
