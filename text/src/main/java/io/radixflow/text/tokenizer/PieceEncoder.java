package io.radixflow.text.tokenizer;

/** Turns the pieces of a text into token ids. Safe for many threads. */
interface PieceEncoder {

  /** Appends the ids of {@code text[from, to)}, which is not empty. */
  void encode(char[] text, int from, int to, IntList ids);
}
