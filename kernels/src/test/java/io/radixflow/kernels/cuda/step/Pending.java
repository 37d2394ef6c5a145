package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.device.StepTicket;

/** A step that is never done. */
final class Pending implements StepTicket {

  @Override
  public boolean isDone() {
    return false;
  }

  @Override
  public void await() {
    throw new UnsupportedOperationException("never done");
  }

  @Override
  public void whenDone(Runnable callback) {}

  @Override
  public Throwable failure() {
    return null;
  }

  @Override
  public int outputs() {
    return 0;
  }

  @Override
  public int token(int output) {
    throw new IllegalStateException("the step is not done");
  }

  @Override
  public float logprob(int output) {
    throw new IllegalStateException("the step is not done");
  }

  @Override
  public int topLogprobs(int output, int[] ids, float[] logprobs) {
    throw new IllegalStateException("the step is not done");
  }

  @Override
  public void logits(int output, float[] target) {
    throw new IllegalStateException("the step is not done");
  }
}
