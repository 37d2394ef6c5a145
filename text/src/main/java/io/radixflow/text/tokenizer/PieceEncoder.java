package io.radixflow.text.tokenizer;

/** Encodes the pieces of a text to token ids. Thread-safe. */
interface PieceEncoder {

  /** Appends the ids of {@code text[from, to)}, which is not empty. */
  void encode(char[] text, int from, int to, IntList ids);
}
