package io.radixflow.kernels.sampling;

/**
 * What sampling remembers of one sequence: its parameters, the counts that penalties need, and the
 * position of its random counter.
 *
 * <p>The engine makes one for each request from the prompt and the tokens generated so far, so it
 * can be rebuilt at any time. From the submit of a batch that names it until the ticket is done it
 * belongs to the backend, which calls {@link #accept} with each token it drew; a batch names a
 * state at most once.
 */
public final class SamplingState {

  private final SamplingParams params;
  private int generated;

  /**
   * @param params how to draw
   * @param prompt the prompt's token ids
   * @param generated the reply's ids so far
   * @param vocabSize size of the vocabulary
   */
  public SamplingState(SamplingParams params, int[] prompt, int[] generated, int vocabSize) {
    this.params = params;
    this.generated = generated.length;
  }

  /** How tokens are drawn. */
  public SamplingParams params() {
    return params;
  }

  /** The random counter of the next draw: the number of tokens generated before it. */
  public int counter() {
    return generated;
  }

  /** Counts a drawn token. */
  public void accept(int token) {
    generated++;
  }
}
