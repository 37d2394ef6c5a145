package io.radixflow.kernels.text.tokenizer;

/** Pieces that a byte-level vocabulary has as one token. */
interface WholeWords {

  /** The id of the token that spells {@code text[from, to)}, or -1. */
  int find(char[] text, int from, int to);
}
