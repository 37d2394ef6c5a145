package io.radixflow.kernels.sim;

import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import java.util.concurrent.CountDownLatch;

/** A step of the simulated device. Results are written before the latch opens. */
final class SimTicket implements StepTicket {
  private static final int SPINS = 200;

  final Batch batch;
  final int[] tokens;
  final float[] logprobs;
  final int[][] topIds;
  final float[][] topLogprobs;
  final float[][] logits;

  private final CountDownLatch done = new CountDownLatch(1);
  private Throwable failure;
  private Runnable callback;

  SimTicket(Batch batch) {
    this.batch = batch;
    int outputs = batch.outputs();
    tokens = new int[outputs];
    logprobs = new float[outputs];
    topIds = new int[outputs][];
    topLogprobs = new float[outputs][];
    logits = new float[outputs][];
  }

  void complete(Throwable cause) {
    failure = cause;
    Runnable run;
    synchronized (this) {
      done.countDown();
      run = callback;
      callback = null;
    }
    if (run != null) {
      run.run();
    }
  }

  @Override
  public boolean isDone() {
    return done.getCount() == 0;
  }

  @Override
  public void await() throws InterruptedException {
    for (int i = 0; i < SPINS; i++) {
      if (isDone()) {
        return;
      }
      Thread.onSpinWait();
    }
    done.await();
  }

  @Override
  public void whenDone(Runnable run) {
    synchronized (this) {
      if (!isDone()) {
        Runnable before = callback;
        callback =
            before == null
                ? run
                : () -> {
                  before.run();
                  run.run();
                };
        return;
      }
    }
    run.run();
  }

  @Override
  public Throwable failure() {
    return failure;
  }

  @Override
  public int outputs() {
    return tokens.length;
  }

  @Override
  public int token(int output) {
    return tokens[output];
  }

  @Override
  public float logprob(int output) {
    return logprobs[output];
  }

  @Override
  public int topLogprobs(int output, int[] ids, float[] values) {
    int[] from = topIds[output];
    int count = from == null ? 0 : Math.min(from.length, ids.length);
    if (count > 0) {
      System.arraycopy(from, 0, ids, 0, count);
      System.arraycopy(topLogprobs[output], 0, values, 0, count);
    }
    return count;
  }

  @Override
  public void logits(int output, float[] target) {
    System.arraycopy(logits[output], 0, target, 0, logits[output].length);
  }
}
