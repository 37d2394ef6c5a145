package io.radixflow.kernels.text.tokenizer;

/** Where a SentencePiece tokenizer puts a space before a text. */
enum SpacePrefix {
  /** Nowhere. */
  NEVER,
  /** Before the first run of a prompt. */
  FIRST_RUN,
  /** Before every run that follows a special token or begins the prompt. */
  EVERY_RUN
}
