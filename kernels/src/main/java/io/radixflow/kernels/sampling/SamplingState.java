package io.radixflow.kernels.sampling;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * The sampling state of one sequence: its parameters, the counts that penalties need, and the
 * position of its random counter.
 *
 * <p>The engine makes one state per request from the prompt and the tokens generated so far, so it
 * can be made again at any time. While a step uses the state, from submit until the ticket is done,
 * the state belongs to the backend, which calls {@link #accept} with each token that it drew. A
 * batch uses a state at most once. Tokens are counted only if there are penalties.
 *
 * <p>A {@linkplain #draftView view} replaces the state in a row that follows drafts. It draws as if
 * the drafts had been accepted. Views are used in the same batch as their state, and their {@link
 * #accept} does nothing: the engine calls {@link #accept} of the state for each draft that the
 * model confirms.
 */
public final class SamplingState {
  private static final int[] NO_DRAFTS = {};

  private final SamplingParams params;
  private final int vocabSize;
  private final TokenCounts counts;
  private final int[] biasIds;
  private final float[] biases;
  private int generated;

  /** The state behind a view; null if this is not a view. */
  private final SamplingState base;

  /** The tokens that a view adds after {@code generated}: {@code drafts[0 .. draftCount)}. */
  private int[] drafts = NO_DRAFTS;

  private int draftCount;

  /**
   * @param params how to draw
   * @param prompt the prompt's token ids
   * @param generated the reply's ids so far
   * @param vocabSize size of the vocabulary
   * @throws IllegalArgumentException if a counted id or an id of {@code logitBias} is not in the
   *     vocabulary
   */
  public SamplingState(SamplingParams params, int[] prompt, int[] generated, int vocabSize) {
    this.base = null;
    this.params = params;
    this.vocabSize = vocabSize;
    this.generated = generated.length;
    biasIds = params.logitBias().keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
    biases = new float[biasIds.length];
    for (int i = 0; i < biasIds.length; i++) {
      check(biasIds[i], "logit_bias");
      biases[i] = params.logitBias().get(biasIds[i]);
    }
    boolean repetition = params.repetitionPenalty() != 1;
    boolean reply = params.presencePenalty() != 0 || params.frequencyPenalty() != 0;
    counts = repetition || reply ? new TokenCounts() : null;
    if (repetition) {
      count(prompt, 0);
    }
    if (counts != null) {
      count(generated, 1);
    }
  }

  private SamplingState(SamplingState base) {
    this.base = base;
    params = base.params;
    vocabSize = base.vocabSize;
    counts = base.counts;
    biasIds = base.biasIds;
    biases = base.biases;
  }

  /**
   * Returns a view of this state for a row that follows drafts; {@link #follow} sets the drafts.
   */
  public SamplingState draftView() {
    return new SamplingState(this);
  }

  /**
   * Sets the tokens before a view's row: {@code replyTokens} tokens of the reply, then the drafts.
   * The first drafts may be tokens of steps in flight. If the state accepts such a token meanwhile,
   * it is still counted only once.
   *
   * @param drafts borrowed until the step with the view is done; ids of the vocabulary
   * @param count number of drafts
   * @param replyTokens tokens of the reply before the drafts
   */
  public void follow(int[] drafts, int count, int replyTokens) {
    this.drafts = drafts;
    this.draftCount = count;
    this.generated = replyTokens;
  }

  /** How tokens are drawn. */
  public SamplingParams params() {
    return params;
  }

  /** The random counter of the next draw: the number of tokens generated before it. */
  public int counter() {
    return generated + draftCount;
  }

  /** Counts a drawn token; does nothing in a view. */
  public void accept(int token) {
    if (base != null) {
      return;
    }
    generated++;
    if (counts != null) {
      counts.add(token, 1);
    }
  }

  /** Returns whether a token's logit depends on how often it was drawn. */
  public boolean penalises() {
    return counts != null;
  }

  /** The largest number of entries that {@link #writeAdjustments} writes. */
  public int mostAdjustments() {
    return (counts == null ? 0 : counts.size() + draftCount) + biasIds.length;
  }

  /**
   * Writes the adjustments of {@link #adjust} for a device. Each has four words: the token's id,
   * how often it was drawn (-1 for a token with only a bias), the bits of its bias, and 0.
   *
   * @param target receives the words from index {@code at} on
   * @return number of adjustments written; their ids are distinct
   */
  public int writeAdjustments(IntBuffer target, int at) {
    int end = at;
    for (int slot = 0; counts != null && slot < counts.slots(); slot++) {
      int id = counts.idAt(slot);
      if (id >= 0) {
        end = put(target, end, id, counts.countAt(slot) + drafted(id), biasOf(id));
      }
    }
    for (int i = firstDraft(); counts != null && i < draftCount; i++) {
      if (isNewDraft(i)) {
        end = put(target, end, drafts[i], drafted(drafts[i]), biasOf(drafts[i]));
      }
    }
    for (int i = 0; i < biasIds.length; i++) {
      if (counts == null || !counts.has(biasIds[i]) && drafted(biasIds[i]) == 0) {
        end = put(target, end, biasIds[i], -1, biases[i]);
      }
    }
    return (end - at) / 4;
  }

  private float biasOf(int id) {
    int index = Arrays.binarySearch(biasIds, id);
    return index < 0 ? 0 : biases[index];
  }

  /** The first draft that the view's state has not accepted. */
  private int firstDraft() {
    return base == null ? 0 : base.generated - generated;
  }

  /** How often a token is among the drafts that the state has not accepted. */
  private int drafted(int id) {
    int times = 0;
    for (int i = firstDraft(); i < draftCount; i++) {
      times += drafts[i] == id ? 1 : 0;
    }
    return times;
  }

  /** Returns whether a draft is the first with its id and the state does not count that id yet. */
  private boolean isNewDraft(int index) {
    if (counts.has(drafts[index])) {
      return false;
    }
    for (int i = firstDraft(); i < index; i++) {
      if (drafts[i] == drafts[index]) {
        return false;
      }
    }
    return true;
  }

  private static int put(IntBuffer target, int at, int id, int count, float bias) {
    target.put(at, id);
    target.put(at + 1, count);
    target.put(at + 2, Float.floatToRawIntBits(bias));
    target.put(at + 3, 0);
    return at + 4;
  }

  /** Returns whether {@link #adjust} changes anything. */
  boolean adjustsLogits() {
    return counts != null || biasIds.length > 0;
  }

  /**
   * Applies the penalties, then the bias, so that penalties cannot weaken a ban by bias. A logit
   * above 0 is divided by the repetition penalty and a logit below 0 is multiplied by it, so both
   * fall if the penalty is above 1. Then {@code frequency * count + presence} is subtracted for
   * tokens of the reply.
   *
   * @param row the logits of the whole vocabulary from index 0, changed in place
   */
  void adjust(float[] row) {
    if (counts != null) {
      penalise(row);
    }
    for (int i = 0; i < biasIds.length; i++) {
      row[biasIds[i]] += biases[i];
    }
  }

  private void penalise(float[] row) {
    for (int slot = 0; slot < counts.slots(); slot++) {
      int id = counts.idAt(slot);
      if (id >= 0) {
        penalise(row, id, counts.countAt(slot) + drafted(id));
      }
    }
    for (int i = firstDraft(); i < draftCount; i++) {
      if (isNewDraft(i)) {
        penalise(row, drafts[i], drafted(drafts[i]));
      }
    }
  }

  private void penalise(float[] row, int id, int count) {
    float repetition = params.repetitionPenalty();
    float logit = row[id];
    logit = logit > 0 ? logit / repetition : logit * repetition;
    if (count > 0) {
      logit -= params.frequencyPenalty() * count + params.presencePenalty();
    }
    row[id] = logit;
  }

  private void count(int[] ids, int amount) {
    for (int id : ids) {
      check(id, "a token");
      counts.add(id, amount);
    }
  }

  private void check(int id, String what) {
    if (id < 0 || id >= vocabSize) {
      throw new IllegalArgumentException(
          what + " has id " + id + "; the vocabulary has ids 0 to " + (vocabSize - 1));
    }
  }
}
