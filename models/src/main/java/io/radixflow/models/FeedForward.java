package io.radixflow.models;

/** The block of a layer that treats each token by itself. */
public sealed interface FeedForward {

  /** How the gate projection g and the up projection u become one. */
  enum Gating {
    /** silu(g) · u (Shazeer 2020). */
    SILU,
    /** gelu(g) · u, with the approximation by tanh. */
    GELU_TANH,
    /** gelu(g) · u, where gelu(g) = g Φ(g), with the normal distribution Φ. */
    GELU,
    /** g · sigmoid(1.702 g) · (u + 1), after g and u are bounded. */
    CLAMPED_SILU
  }

  /**
   * A gated MLP.
   *
   * @param width of gate and up projection
   * @param limit bound of {@link Gating#CLAMPED_SILU}: of the gate from above, of up on both sides
   * @param bias whether the projections have a bias
   */
  record Dense(int width, Gating gating, float limit, boolean bias) implements FeedForward {

    /** The MLP of the llama family. */
    public static Dense silu(int width) {
      return new Dense(width, Gating.SILU, 0, false);
    }
  }

  /** The function that turns a router's logits into scores, by which experts are chosen. */
  enum Scoring {
    SOFTMAX,
    SIGMOID
  }

  /**
   * Chooses experts for a token, and their weights. All arithmetic is float32; of equal scores the
   * lower index wins.
   *
   * @param bias whether the logits have a bias
   * @param correction whether a bias is added to the scores for the choice only
   * @param groups groups of experts with neighbouring indexes
   * @param chosenGroups groups from which experts are chosen
   * @param groupBest how many of a group's best experts are summed for the group's score
   * @param normalised whether the weights of a token's experts sum to one
   * @param scale factor of the weights
   */
  record Router(
      Scoring scoring,
      boolean bias,
      boolean correction,
      int groups,
      int chosenGroups,
      int groupBest,
      boolean normalised,
      float scale) {

    /** Softmax over the logits, without groups. */
    public static Router softmax(boolean normalised) {
      return new Router(Scoring.SOFTMAX, false, false, 1, 1, 1, normalised, 1);
    }
  }

  /**
   * MLPs of which each token has a few.
   *
   * @param count of experts
   * @param chosen experts of a token
   * @param expert shape of each
   * @param sharedWidth width of the MLP that every token has besides; 0 for none
   * @param sharedGated whether a sigmoid of its own weighs that MLP
   */
  record Experts(
      int count, int chosen, Dense expert, Router router, int sharedWidth, boolean sharedGated)
      implements FeedForward {

    /** The shape of the MLP that every token has. */
    public Dense shared() {
      return new Dense(sharedWidth, expert.gating(), expert.limit(), false);
    }
  }
}
