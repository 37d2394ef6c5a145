package io.radixflow.kernels.device;

import io.radixflow.kernels.sampling.SamplingState;
import java.util.concurrent.locks.LockSupport;

/**
 * A ticket that a backend reuses, with its buffers, from step to step. It has the step's outputs,
 * tokens and result, and wakes the callers that wait for the end.
 *
 * <p>The thread that submits the step prepares the ticket, the computing threads fill and end it,
 * and the owner reads it once it is done.
 */
public abstract class ReusedTicket implements StepTicket {

  private final int spins;
  private Batch batch;
  private int outputs;
  private int[] tokens = new int[16];
  private int[] logitsSlot = new int[16];
  private int logitsRows;
  private boolean wantsLogprobs;

  private volatile boolean done = true;
  private volatile Thread waiter;
  private volatile Throwable failure;
  private Runnable callback;

  /**
   * @param spins how often a waiting thread checks for the end before it parks
   */
  protected ReusedTicket(int spins) {
    this.spins = spins;
  }

  /**
   * Counts the outputs that a new step must produce. The subclass then makes room for them and
   * calls {@link #start}.
   */
  protected final void prepare(Batch newBatch) {
    batch = newBatch;
    outputs = newBatch.outputs();
    if (tokens.length < outputs) {
      tokens = new int[Math.max(outputs, tokens.length * 2)];
      logitsSlot = new int[tokens.length];
    }
    logitsRows = 0;
    wantsLogprobs = false;
    for (int output = 0; output < outputs; output++) {
      tokens[output] = -1;
      int flags = newBatch.outputFlags(output);
      wantsLogprobs |= (flags & Batch.LOGPROBS) != 0;
      logitsSlot[output] = (flags & Batch.LOGITS) != 0 ? logitsRows++ : -1;
    }
  }

  /** Starts the prepared step: from now on the ticket is not done. */
  protected final void start() {
    failure = null;
    waiter = null;
    synchronized (this) {
      callback = null;
      done = false;
    }
  }

  /** The step's batch; null once the step has ended. */
  public final Batch batch() {
    return batch;
  }

  /** Number of outputs that fit into the arrays of this ticket. */
  protected final int capacity() {
    return tokens.length;
  }

  /** Number of outputs that asked for logits. */
  protected final int logitsRows() {
    return logitsRows;
  }

  /** Returns whether an output asked for log probabilities. */
  protected final boolean wantsLogprobs() {
    return wantsLogprobs;
  }

  /**
   * Returns the index of an output among the outputs that asked for logits; -1 if it did not ask
   * for them.
   */
  protected final int logitsSlot(int output) {
    return logitsSlot[output];
  }

  /** Sets an output's token. */
  public final void putToken(int output, int token) {
    tokens[output] = token;
  }

  /** Passes each drawn token to its sampling state. Called only after the whole step succeeded. */
  public final void acceptTokens() {
    for (int output = 0; output < outputs; output++) {
      SamplingState state = batch.outputSampling(output);
      if (state != null) {
        state.accept(tokens[output]);
      }
    }
  }

  /**
   * Ends the step; the ticket may be reused from now on.
   *
   * @param thrown why the step failed, or null
   * @return the callback, which the caller passes to {@link #announce} without holding a lock
   */
  public final Runnable end(Throwable thrown) {
    batch = null;
    failure = thrown;
    synchronized (this) {
      done = true;
      Runnable toRun = callback;
      callback = null;
      return toRun;
    }
  }

  /** Wakes the waiting thread and runs the callback, if there are any. */
  public final void announce(Runnable toRun) {
    Thread thread = waiter;
    if (thread != null) {
      LockSupport.unpark(thread);
    }
    if (toRun != null) {
      toRun.run();
    }
  }

  @Override
  public final boolean isDone() {
    return done;
  }

  @Override
  public final void await() throws InterruptedException {
    for (int spin = 0; spin < spins && !done; spin++) {
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
  public final void whenDone(Runnable newCallback) {
    synchronized (this) {
      if (!done) {
        callback = newCallback;
        return;
      }
    }
    newCallback.run();
  }

  @Override
  public final Throwable failure() {
    return done ? failure : null;
  }

  @Override
  public final int outputs() {
    return outputs;
  }

  /** Checks that an output can be read. */
  protected final void check(int output) {
    if (!done || failure != null) {
      throw new IllegalStateException(
          done ? "the step failed: " + failure : "the step is not done");
    }
    checkOpen();
    if (output < 0 || output >= outputs) {
      throw new IndexOutOfBoundsException("output " + output + " of " + outputs);
    }
  }

  /** Checks that the memory of the results has not been freed. */
  protected void checkOpen() {}

  /**
   * Checks like {@link #check}; returns the output's index among the outputs that asked for logits.
   */
  protected final int checkLogits(int output) {
    check(output);
    if (logitsSlot[output] < 0) {
      throw new IllegalStateException("output " + output + " did not ask for logits");
    }
    return logitsSlot[output];
  }

  @Override
  public final int token(int output) {
    check(output);
    return tokens[output];
  }
}
