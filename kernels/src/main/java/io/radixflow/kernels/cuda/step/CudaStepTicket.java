package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.driver.CudaContext;
import io.radixflow.kernels.cuda.driver.CudaEvent;
import io.radixflow.kernels.cuda.driver.CudaStream;
import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.PinnedMemory;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.ReusedTicket;
import io.radixflow.kernels.sampling.FixedPointExp;
import io.radixflow.kernels.sampling.SamplingException;
import io.radixflow.kernels.sampling.TokenMask;
import java.nio.ByteBuffer;

/**
 * A ticket of the CUDA backend. The backend has few tickets and reuses them in turn, with their
 * pinned buffers. One buffer carries the step's metadata to the device, and the others carry the
 * results back.
 *
 * <p>The submitting thread fills the ticket, the thread that waits for the device ends it, and the
 * owner reads it once it is done.
 */
public final class CudaStepTicket extends ReusedTicket {

  private static final int TOKEN = 0;
  private static final int ERROR = 4;
  private static final int ERROR_TOKEN = 8;
  private static final int TOP = 12;
  private static final int MASS = 16;
  private static final int TOKEN_LOGIT = 24;
  private static final int REPORTED = 28;
  private static final int NOT_A_NUMBER = 1;
  private static final int NOTHING = 2;
  private static final int MASKED = 4;

  private final CudaContext context;
  private final int vocabSize;
  private final FixedPointExp exp;
  private final int ringBase;
  private final PinnedMemory plan;
  private final PinnedMemory results;
  private final PinnedMemory topIds;
  private final PinnedMemory topLogits;
  private final CudaEvent ended;
  private PinnedMemory logits;

  private volatile boolean closed;

  /**
   * @param ringBase index of the step's first token in the device's ring
   * @param planBytes largest size of a step's metadata, in bytes
   * @param maxOutputs largest number of outputs per step
   */
  public CudaStepTicket(
      CudaContext context, int vocabSize, int ringBase, long planBytes, int maxOutputs) {
    super(0);
    this.context = context;
    this.vocabSize = vocabSize;
    this.ringBase = ringBase;
    exp = new FixedPointExp(vocabSize);
    plan = context.allocatePinned(planBytes, "a step's metadata");
    results =
        context.allocatePinned((long) StepResults.RESULT_BYTES * maxOutputs, "a step's results");
    topIds = context.allocatePinned(4L * StepResults.TOPS * maxOutputs, "log probabilities");
    topLogits = context.allocatePinned(4L * StepResults.TOPS * maxOutputs, "log probabilities");
    ended = context.newEvent();
  }

  /** Prepares and starts this ticket for a new step. */
  public void begin(Batch batch) {
    prepare(batch);
    start();
  }

  /**
   * Makes room for the logits that the step asks for. Allocates only if it needs more than before.
   */
  void reserveLogits() {
    long bytes = (long) logitsRows() * vocabSize * Float.BYTES;
    if (bytes > PinnedMemory.MAX_SLAB) {
      throw new IllegalArgumentException(
          String.format(
              "a step asks for the logits of %s rows, %s bytes; at most %s are possible",
              logitsRows(), bytes, PinnedMemory.MAX_SLAB));
    }
    if (bytes > 0 && (logits == null || logits.bytes() < bytes)) {
      if (logits != null) {
        logits.close();
        logits = null;
      }
      logits = context.allocatePinned(bytes, "logits");
    }
  }

  /** Queues copies of the logits of outputs {@code first} to {@code first + count - 1}. */
  void copyLogits(DeviceMemory rows, int first, int count, CudaStream stream) {
    long bytes = (long) vocabSize * Float.BYTES;
    for (int i = 0; i < count && logitsRows() > 0; i++) {
      int slot = logitsSlot(first + i);
      if (slot >= 0) {
        rows.slice(i * bytes, bytes).readAsync(logits.slice(slot * bytes, bytes), bytes, stream);
      }
    }
  }

  /** Queues the copies of the results and marks the step's end. */
  void copyResults(StepResults device, CudaStream stream) {
    if (outputs() > 0) {
      device.heads().readAsync(results, (long) StepResults.RESULT_BYTES * outputs(), stream);
    }
    if (wantsLogprobs()) {
      device.topIds().readAsync(topIds, 4L * StepResults.TOPS * outputs(), stream);
      device.topLogits().readAsync(topLogits, 4L * StepResults.TOPS * outputs(), stream);
    }
    recordEnd(stream);
  }

  /** Marks the step's end: all work queued on the stream so far. */
  public void recordEnd(CudaStream stream) {
    ended.record(stream);
  }

  /**
   * Waits until the device has passed the step's end. It waits for an event instead of the stream,
   * because the submitting thread may be capturing the stream for the next step.
   */
  public void awaitEnd() {
    ended.synchronize();
  }

  PinnedMemory plan() {
    return plan;
  }

  public int ringBase() {
    return ringBase;
  }

  /** Waits until the device has finished the step, and checks the drawn tokens. */
  public void awaitDevice() {
    awaitEnd();
    for (int output = 0; output < outputs(); output++) {
      if (batch().outputSampling(output) != null) {
        checkDraw(output);
        putToken(output, result(output, TOKEN));
      }
    }
  }

  private void checkDraw(int output) {
    int error = result(output, ERROR);
    int token = result(output, ERROR_TOKEN);
    if (error == NOT_A_NUMBER) {
      throw new SamplingException("logit of token " + token + " is not a number");
    } else if (error == NOTHING) {
      throw new SamplingException("no finite logit in the row");
    } else if (error == MASKED) {
      throw new SamplingException(TokenMask.NOTHING_LEFT);
    } else if (error != 0) {
      throw new SamplingException("logit of token " + token + " is infinite");
    }
  }

  private int result(int output, int field) {
    return results.buffer().getInt(StepResults.RESULT_BYTES * output + field);
  }

  /** Closes the ticket; the context frees its pinned memory. No step may be in flight. */
  public void close() {
    closed = true;
  }

  @Override
  protected void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the backend is closed");
    }
  }

  @Override
  public float logprob(int output) {
    check(output);
    if (results.buffer().getLong(StepResults.RESULT_BYTES * output + MASS) == 0) {
      return Float.NaN;
    }
    float logit = results.buffer().getFloat(StepResults.RESULT_BYTES * output + TOKEN_LOGIT);
    return (float) (logit - normaliser(output));
  }

  private double normaliser(int output) {
    ByteBuffer buffer = results.buffer();
    float top = buffer.getFloat(StepResults.RESULT_BYTES * output + TOP);
    return exp.normaliser(top, buffer.getLong(StepResults.RESULT_BYTES * output + MASS));
  }

  @Override
  public int topLogprobs(int output, int[] ids, float[] values) {
    check(output);
    int count = Math.min(result(output, REPORTED), Math.min(ids.length, values.length));
    double normaliser = count > 0 ? normaliser(output) : 0;
    for (int rank = 0; rank < count; rank++) {
      int at = Integer.BYTES * (output * StepResults.TOPS + rank);
      ids[rank] = topIds.buffer().getInt(at);
      values[rank] = (float) (topLogits.buffer().getFloat(at) - normaliser);
    }
    return count;
  }

  @Override
  public void logits(int output, float[] target) {
    int at = checkLogits(output) * vocabSize * Float.BYTES;
    logits
        .buffer()
        .slice(at, vocabSize * Float.BYTES)
        .order(logits.buffer().order())
        .asFloatBuffer()
        .get(target, 0, vocabSize);
  }
}
