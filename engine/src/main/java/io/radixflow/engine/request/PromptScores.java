package io.radixflow.engine.request;

import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The log probabilities of a prompt's tokens, gathered row by row while the prompt is computed. The
 * row of a token scores the token after it, so the first token of a prompt has no score. Engine
 * thread only, once made.
 */
public final class PromptScores {
  /** The most log probabilities of one prompt, because one reply contains all of them. */
  private static final int MOST = 1 << 19;

  private final int alternatives;
  private final SamplingState sampling;
  private final float[] logprobs;
  private final int[] topIds;
  private final float[] topLogprobs;
  private final int[] ids;
  private final float[] values;

  /** Number of rows scored so far. */
  private int rows;

  /**
   * @param alternatives how many of the most probable tokens are kept for each token
   * @param promptTokens tokens of the prompt
   * @throws IllegalArgumentException if a reply cannot contain that many
   */
  public PromptScores(int alternatives, int promptTokens, int vocabSize) {
    this.alternatives = alternatives;
    int scored = promptTokens - 1;
    if ((long) scored * (1 + alternatives) > MOST) {
      throw new IllegalArgumentException(
          "prompt_logprobs is %s, which makes %s log probabilities for the prompt's %s tokens; at most %s are possible: ask for fewer"
              .formatted(alternatives, (long) scored * (1 + alternatives), promptTokens, MOST));
    }
    logprobs = new float[scored];
    topIds = new int[Math.multiplyExact(scored, alternatives)];
    topLogprobs = new float[topIds.length];
    ids = new int[alternatives];
    values = new float[alternatives];
    SamplingParams params =
        new SamplingParams(0, 0, 1, 0, 1, 0, 0, Map.of(), 0, Math.max(0, alternatives));
    // a view is not changed by tokens, so all rows can share it
    sampling = new SamplingState(params, new int[0], new int[0], vocabSize).draftView();
  }

  /** Returns the sampling state for the rows of a batch. */
  public SamplingState sampling() {
    return sampling;
  }

  /**
   * Returns how many rows of a chunk are scored: the rows of all tokens of the prompt except the
   * last.
   */
  public int rowsOf(int position, int count) {
    return Math.max(0, Math.min(position + count, logprobs.length) - position);
  }

  /** Returns how many of the prompt's first rows need not be computed again. */
  public int rows() {
    return rows;
  }

  /**
   * Takes the scores of a step.
   *
   * @param output the first of the scores
   * @param position position of the first row
   */
  public void take(StepTicket ticket, int output, int position, int count) {
    for (int i = 0; i < count; i++) {
      int row = position + i;
      logprobs[row] = ticket.logprob(output + i);
      if (alternatives > 0) {
        int given = ticket.topLogprobs(output + i, ids, values);
        System.arraycopy(ids, 0, topIds, row * alternatives, given);
        System.arraycopy(values, 0, topLogprobs, row * alternatives, given);
      }
    }
    rows = Math.max(rows, position + count);
  }

  /**
   * Returns one entry for each token but the first.
   *
   * @param tokens the tokens of the prompt; more tokens may follow
   */
  public List<TokenLogprob> entries(int[] tokens) {
    List<TokenLogprob> entries = new ArrayList<>(logprobs.length);
    for (int row = 0; row < logprobs.length; row++) {
      int from = row * alternatives;
      entries.add(
          new TokenLogprob(
              tokens[row + 1],
              logprobs[row],
              Arrays.copyOfRange(topIds, from, from + alternatives),
              Arrays.copyOfRange(topLogprobs, from, from + alternatives)));
    }
    return entries;
  }
}
