package io.radixflow.kernels.cpu;

import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.Sampler;
import io.radixflow.kernels.sampling.SamplingState;
import java.util.concurrent.locks.LockSupport;

/**
 * One of the few tickets of a backend, reused in turn with its buffers. Filled by the dispatcher
 * and its team, read by the owner once done.
 */
final class CpuStepTicket implements StepTicket {

  private static final int MOST_LOGPROBS = 20;

  /** About 20 µs. */
  private static final int SPINS = 500;

  private final int vocabSize;
  private Batch batch;
  private int outputs;
  private int[] tokens = new int[16];
  private float[] logprobs = new float[16];
  private int[] topCount = new int[16];
  private int[] topIds = new int[0];
  private float[] topLogprobs = new float[0];
  private int[] logitsSlot = new int[16];
  private float[] logits = new float[0];

  private volatile boolean done = true;
  private volatile Thread waiter;
  private volatile Throwable failure;
  private Runnable callback;

  CpuStepTicket(int vocabSize) {
    this.vocabSize = vocabSize;
  }

  /** Makes this the ticket of a new step. */
  void begin(Batch newBatch) {
    batch = newBatch;
    outputs = newBatch.outputs();
    failure = null;
    waiter = null;
    if (tokens.length < outputs) {
      int size = Math.max(outputs, tokens.length * 2);
      tokens = new int[size];
      logprobs = new float[size];
      topCount = new int[size];
      logitsSlot = new int[size];
    }
    int logitsRows = 0;
    boolean wantsLogprobs = false;
    for (int output = 0; output < outputs; output++) {
      tokens[output] = -1;
      logprobs[output] = Float.NaN;
      topCount[output] = 0;
      int flags = newBatch.outputFlags(output);
      wantsLogprobs |= (flags & Batch.LOGPROBS) != 0;
      logitsSlot[output] = (flags & Batch.LOGITS) != 0 ? logitsRows++ : -1;
    }
    if (logits.length < (long) logitsRows * vocabSize) {
      logits = new float[Math.multiplyExact(logitsRows, vocabSize)];
    }
    if (wantsLogprobs && topIds.length < tokens.length * MOST_LOGPROBS) {
      topIds = new int[tokens.length * MOST_LOGPROBS];
      topLogprobs = new float[tokens.length * MOST_LOGPROBS];
    }
    synchronized (this) {
      callback = null;
      done = false;
    }
  }

  Batch batch() {
    return batch;
  }

  void putToken(int output, int token) {
    tokens[output] = token;
  }

  void putLogits(int output, float[] source, int at) {
    System.arraycopy(source, at, logits, logitsSlot[output] * vocabSize, vocabSize);
  }

  void putLogprobs(
      int output, Sampler sampler, float[] source, int at, int token, int alternatives) {
    int count = Math.max(0, Math.min(alternatives, MOST_LOGPROBS));
    logprobs[output] =
        sampler.logprobs(
            source, at, vocabSize, token, count, topIds, topLogprobs, output * MOST_LOGPROBS);
    topCount[output] = Math.min(count, vocabSize);
  }

  /** Tells each sampling state its token: only after the whole step went well. */
  void acceptTokens() {
    for (int output = 0; output < outputs; output++) {
      SamplingState state = batch.outputSampling(output);
      if (state != null) {
        state.accept(tokens[output]);
      }
    }
  }

  /** Ends the step, with its failure or null. */
  void complete(Throwable thrown) {
    Runnable toRun;
    batch = null;
    failure = thrown;
    synchronized (this) {
      done = true;
      toRun = callback;
      callback = null;
    }
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    if (toRun != null) {
      toRun.run();
    }
  }

  @Override
  public boolean isDone() {
    return done;
  }

  @Override
  public void await() throws InterruptedException {
    for (int spin = 0; spin < SPINS && !done; spin++) {
      Thread.onSpinWait();
    }
    waiter = Thread.currentThread();
    while (!done) {
      if (Thread.interrupted()) {
        throw new InterruptedException("interrupted while waiting for a step");
      }
      LockSupport.park(this);
    }
  }

  @Override
  public void whenDone(Runnable newCallback) {
    synchronized (this) {
      if (!done) {
        callback = newCallback;
        return;
      }
    }
    newCallback.run();
  }

  @Override
  public Throwable failure() {
    return done ? failure : null;
  }

  @Override
  public int outputs() {
    return outputs;
  }

  private void check(int output) {
    if (!done || failure != null) {
      throw new IllegalStateException(
          done ? "the step failed: " + failure : "the step is not done");
    }
    if (output < 0 || output >= outputs) {
      throw new IndexOutOfBoundsException("output " + output + " of " + outputs);
    }
  }

  @Override
  public int token(int output) {
    check(output);
    return tokens[output];
  }

  @Override
  public float logprob(int output) {
    check(output);
    return logprobs[output];
  }

  @Override
  public int topLogprobs(int output, int[] ids, float[] values) {
    check(output);
    int count = Math.min(topCount[output], Math.min(ids.length, values.length));
    if (count > 0) {
      System.arraycopy(topIds, output * MOST_LOGPROBS, ids, 0, count);
      System.arraycopy(topLogprobs, output * MOST_LOGPROBS, values, 0, count);
    }
    return count;
  }

  @Override
  public void logits(int output, float[] target) {
    check(output);
    if (logitsSlot[output] < 0) {
      throw new IllegalStateException("output " + output + " did not ask for logits");
    }
    System.arraycopy(logits, logitsSlot[output] * vocabSize, target, 0, vocabSize);
  }
}
