package io.radixflow.lab.bench.speculation;

/** The prompts that the tenant has sent before the measured prompt. */
enum Before {
  /** No prompts: the only sources of drafts are the prompt, the reply and its prediction. */
  NOTHING,
  /** All prompts: the radix cache and the history have the reply. */
  SAME,
  /**
   * All prompts with a greeting: the radix cache has nothing, and the history has a reply that may
   * be similar.
   */
  SIMILAR;

  /** Returns the prompt that is sent before {@code measured}. */
  BenchPrompt prompt(BenchPrompt measured) {
    return this == SIMILAR ? measured.greeting() : measured;
  }
}
