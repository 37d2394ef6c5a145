package io.radixflow.models;

/** The block of a layer that processes each token independently. */
public sealed interface FeedForward {

  /** How the gate projection g and the up projection u are combined. */
  enum Gating {
    /** silu(g) · u (Shazeer 2020). */
    SILU,
    /** gelu(g) · u, with gelu approximated by tanh. */
    GELU_TANH,
    /** gelu(g) · u with gelu(g) = g Φ(g), where Φ is the normal distribution function. */
    GELU,
    /** g · sigmoid(1.702 g) · (u + 1), after g and u are bounded. */
    CLAMPED_SILU
  }

  /**
   * A gated MLP.
   *
   * @param width width of the gate and up projections
   * @param limit bound for {@link Gating#CLAMPED_SILU}: the gate is bounded above, up on both sides
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
   * Chooses experts for a token and their weights. All arithmetic is float32. If scores are equal,
   * the lower index wins.
   *
   * @param bias whether the logits have a bias
   * @param correction whether a bias is added to the scores, only for the choice
   * @param groups number of groups; a group is experts with consecutive indexes
   * @param chosenGroups number of groups from which experts are chosen
   * @param groupBest number of a group's best experts whose scores are added to the group's score
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
   * MLPs of which each token uses a few.
   *
   * @param count number of experts
   * @param chosen number of experts per token
   * @param expert shape of each expert
   * @param sharedWidth width of the shared MLP, which every token also uses; 0 for none
   * @param sharedGated whether the output of the shared MLP is weighted by a sigmoid
   */
  record Experts(
      int count, int chosen, Dense expert, Router router, int sharedWidth, boolean sharedGated)
      implements FeedForward {

    /** The shape of the shared MLP. */
    public Dense shared() {
      return new Dense(sharedWidth, expert.gating(), expert.limit(), false);
    }
  }
}
