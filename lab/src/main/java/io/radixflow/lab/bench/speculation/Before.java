package io.radixflow.lab.bench.speculation;

/** What the tenant has asked before the prompt that is measured. */
enum Before {
  /** Nothing: drafts are of the prompt, the reply and its prediction alone. */
  NOTHING,
  /** All prompts: the radix cache has the reply, the history its tokens. */
  SAME,
  /**
   * All prompts with a greeting: the radix cache has nothing, the history a reply that may be like
   * it.
   */
  SIMILAR;

  /** Returns the prompt that was asked before {@code measured}. */
  BenchPrompt prompt(BenchPrompt measured) {
    return this == SIMILAR ? measured.greeting() : measured;
  }
}
