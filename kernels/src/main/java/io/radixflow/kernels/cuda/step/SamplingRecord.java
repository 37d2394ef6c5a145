package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.sampling.FixedPointExp;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import java.nio.IntBuffer;

/**
 * One output's sampling parameters for the sampling kernel, in little-endian 32-bit words.
 * Everything that needs double arithmetic is computed here once, in the same way as on the CPU.
 *
 * <pre>
 *    0  flags: {@link #SAMPLE}, {@link #LOGPROBS}, {@link #GREEDY}, {@link #PENALTIES}
 *    1  counter of the random generator
 *    2  scale (double): steps of the exponential per logit
 *    4  top_p (double); 1 for off
 *    6  least weight (long) that min_p lets pass; 0 for off
 *    8  seed (long)
 *   10  top_k; 0 for off
 *   11  first adjustment, counted from the step's first
 *   12  number of adjustments
 *   13  repetition penalty (float)
 *   14  frequency penalty (float)
 *   15  presence penalty (float)
 *   16  ring index of a drawn token that the adjustments do not count yet; -1 for none
 *   17  alternatives to report
 *   18  where the output's token mask begins, in integers from the start of the step's metadata; 0
 *       for none
 *   19  the given token, which is not drawn; -1 to draw one
 * </pre>
 */
final class SamplingRecord {

  /** Words per record. */
  static final int INTS = 20;

  /** Flag: draw a token. */
  static final int SAMPLE = 1;

  /** Flag: report log probabilities. */
  static final int LOGPROBS = 2;

  /** Flag: take the arg max. */
  static final int GREEDY = 4;

  /** Flag: the pending token counts for penalties. */
  static final int PENALTIES = 8;

  /**
   * Words per adjustment: token id, count (-1: only a bias), bias (float), one word for the device.
   */
  static final int ADJUSTMENT_INTS = 4;

  private static final int MASK = 18;
  private static final int GIVEN = 19;

  private final FixedPointExp exp;

  SamplingRecord(int vocabSize) {
    exp = new FixedPointExp(vocabSize);
  }

  /** Writes a record that draws no token. */
  static void writeNone(IntBuffer target, int at) {
    for (int i = 0; i < INTS; i++) {
      target.put(at + i, 0);
    }
    target.put(at + 16, -1);
    target.put(at + GIVEN, -1);
  }

  /**
   * Writes a record.
   *
   * @param pendingRing ring index of the last drawn token if {@code state} has not accepted it yet;
   *     else -1
   * @param firstAdjustment index of the output's first adjustment
   * @param adjustments number of adjustments
   */
  void write(
      IntBuffer target,
      int at,
      SamplingState state,
      boolean logprobs,
      int pendingRing,
      int firstAdjustment,
      int adjustments) {
    SamplingParams params = state.params();
    boolean greedy = params.temperature() == 0;
    int flags = SAMPLE | (logprobs ? LOGPROBS : 0) | (greedy ? GREEDY : 0);
    target.put(at, flags | (state.penalises() ? PENALTIES : 0));
    target.put(at + 1, state.counter() + (pendingRing >= 0 ? 1 : 0));
    double scale = greedy ? 0 : FixedPointExp.stepsPerLogit(params.temperature());
    putLong(target, at + 2, Double.doubleToRawLongBits(scale));
    putLong(target, at + 4, Double.doubleToRawLongBits(params.topP()));
    putLong(target, at + 6, exp.leastWeight(params.minP()));
    putLong(target, at + 8, params.seed());
    target.put(at + 10, params.topK());
    target.put(at + 11, firstAdjustment);
    target.put(at + 12, adjustments);
    target.put(at + 13, Float.floatToRawIntBits(params.repetitionPenalty()));
    target.put(at + 14, Float.floatToRawIntBits(params.frequencyPenalty()));
    target.put(at + 15, Float.floatToRawIntBits(params.presencePenalty()));
    target.put(at + 16, state.penalises() ? pendingRing : -1);
    target.put(at + 17, Math.max(0, params.topLogprobs()));
    target.put(at + MASK, 0);
    target.put(at + GIVEN, -1);
  }

  /**
   * Sets the token mask of a record that was written. {@code offset} is the mask's first integer in
   * the step's metadata.
   */
  static void writeMask(IntBuffer target, int at, int offset) {
    target.put(at + MASK, offset);
  }

  /** Sets the given token of a record that was written; -1 to draw a token. */
  static void writeGiven(IntBuffer target, int at, int token) {
    target.put(at + GIVEN, token);
  }

  private static void putLong(IntBuffer target, int at, long value) {
    target.put(at, (int) value);
    target.put(at + 1, (int) (value >>> 32));
  }
}
