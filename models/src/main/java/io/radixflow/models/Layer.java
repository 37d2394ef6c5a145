package io.radixflow.models;

import java.util.List;

/**
 * One decoder block.
 *
 * @param norms where the block has norms
 */
public record Layer(Attention attention, FeedForward feedForward, Norms norms) {

  /** The same layer with a divisor for each pair's rotary frequency. */
  public Layer withDivisors(List<Float> divisors) {
    Attention.Grouped grouped = (Attention.Grouped) attention;
    return new Layer(grouped.withRope(grouped.rope().withDivisors(divisors)), feedForward, norms);
  }

  /** The norms of a layer's two blocks, attention and feed-forward. */
  public enum Norms {
    /** Each block reads a normalised copy of the residual stream. */
    BEFORE(true, true, false),
    /** The output of each block is normalised before it is added. */
    AFTER(false, false, true),
    /** Both of the above. */
    BEFORE_AND_AFTER(true, true, true),
    /**
     * Both blocks read the same normalised copy, and both outputs are added to the residual stream.
     */
    PARALLEL(true, false, false);

    private final boolean beforeAttention;
    private final boolean beforeFeedForward;
    private final boolean after;

    Norms(boolean beforeAttention, boolean beforeFeedForward, boolean after) {
      this.beforeAttention = beforeAttention;
      this.beforeFeedForward = beforeFeedForward;
      this.after = after;
    }

    /** Returns whether there is a norm before attention. */
    public boolean beforeAttention() {
      return beforeAttention;
    }

    /** Returns whether the feed-forward block has its own norm before it. */
    public boolean beforeFeedForward() {
      return beforeFeedForward;
    }

    /** Returns whether a norm follows each block. */
    public boolean after() {
      return after;
    }
  }
}
