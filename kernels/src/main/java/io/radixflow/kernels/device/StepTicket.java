package io.radixflow.kernels.device;

/**
 * A submitted step. Outputs are numbered in the order in which the batch asked for them ({@link
 * Batch#output}).
 *
 * <p>Values may be read once {@link #isDone()} is true and {@link #failure()} is null, until the
 * ticket after the next one is submitted (backends reuse buffers).
 */
public interface StepTicket {

  /** Returns whether the step has ended, successfully or not. Never blocks. */
  boolean isDone();

  /**
   * Waits for the end of the step: spins briefly, then parks.
   *
   * @throws InterruptedException if the waiting thread is interrupted; the step continues
   */
  void await() throws InterruptedException;

  /**
   * Registers a callback for the end of the step. If the step has ended, the callback runs at once.
   * It must not block.
   */
  void whenDone(Runnable callback);

  /** Why the step failed, or null. */
  Throwable failure();

  /** Number of outputs. */
  int outputs();

  /** The sampled token id of an output. */
  int token(int output);

  /**
   * Natural log of the sampled token's probability: softmax at temperature 1, before penalties,
   * biases, filters and mask.
   */
  float logprob(int output);

  /**
   * Copies the most probable tokens of an output that asked for them.
   *
   * @param ids receives token ids, most probable first
   * @param logprobs receives their log probabilities
   * @return number of tokens written
   */
  int topLogprobs(int output, int[] ids, float[] logprobs);

  /**
   * Copies the raw logits of an output that asked for them.
   *
   * @param target receives {@code vocabSize} floats
   */
  void logits(int output, float[] target);
}
