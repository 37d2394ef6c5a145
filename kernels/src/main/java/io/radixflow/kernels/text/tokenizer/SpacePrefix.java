package io.radixflow.kernels.text.tokenizer;

/** The runs of text that a SentencePiece tokenizer puts a space before. */
enum SpacePrefix {
  /** No run. */
  NEVER,
  /** The first run of a prompt. */
  FIRST_RUN,
  /** Every run that follows a special token or begins the prompt. */
  EVERY_RUN
}
