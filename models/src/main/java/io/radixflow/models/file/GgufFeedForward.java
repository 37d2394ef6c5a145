package io.radixflow.models.file;

import io.radixflow.models.FeedForward;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Gating;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.FeedForward.Scoring;
import io.radixflow.models.file.GgufArchitecture.Trait;
import io.radixflow.models.file.format.GgufFile;

/** The MLP or the experts of each layer, as a GGUF file describes them. */
final class GgufFeedForward {

  private static final String GATING = "expert_gating_func";
  private static final int SOFTMAX = 1;
  private static final int SIGMOID = 2;
  private static final int SOFTMAX_OF_CHOSEN = 3;

  /** Files do not contain the bound. This is the only one that was published. */
  private static final float CLAMP = 7;

  private final GgufFields fields;
  private final GgufArchitecture architecture;
  private final GgufFile file;
  private final SupportedShapes check;
  private final int experts;
  private final int firstExperts;

  GgufFeedForward(
      GgufFields fields, GgufArchitecture architecture, GgufFile file, SupportedShapes check) {
    this.fields = fields;
    this.architecture = architecture;
    this.file = file;
    this.check = check;
    experts = fields.count("expert_count");
    firstExperts = fields.count("leading_dense_block_count");
    if (experts > 0 && !architecture.has(Trait.EXPERTS)) {
      throw fields.unsupported("expert_count", "a mixture of experts");
    }
  }

  FeedForward layer(int layer) {
    String prefix = "blk." + layer + ".";
    return experts > 0 && layer >= firstExperts ? experts(prefix) : dense(prefix);
  }

  private Dense dense(String prefix) {
    Gating gating = architecture.has(Trait.GELU) ? Gating.GELU_TANH : Gating.SILU;
    return new Dense(fields.size("feed_forward_length"), gating, 0, has(prefix + "ffn_down.bias"));
  }

  /** Returns the width of experts, which their tensors determine. */
  private int width(String prefix) {
    String both = prefix + GgufParts.GATE_AND_UP + ".weight";
    if (has(both)) {
      return check.size("half of the rows of " + both, rows(both) / 2);
    }
    boolean stacked = has(prefix + "ffn_gate_exps.weight");
    return rows(prefix + (stacked ? "ffn_gate_exps.weight" : "ffn_gate.0.weight"));
  }

  private Experts experts(String prefix) {
    int width = width(prefix);
    boolean clamped = architecture.has(Trait.CLAMPED_EXPERTS);
    boolean bias = has(prefix + "ffn_down_exps.bias");
    Dense expert =
        new Dense(width, clamped ? Gating.CLAMPED_SILU : Gating.SILU, clamped ? CLAMP : 0, bias);
    boolean gated = architecture.has(Trait.GATED_SHARED_EXPERT);
    boolean shared =
        gated || architecture.has(Trait.GROUPED_EXPERTS) && has(prefix + "ffn_gate_shexp.weight");
    return new Experts(
        experts,
        fields.size("expert_used_count"),
        expert,
        architecture.has(Trait.GROUPED_EXPERTS) ? grouped(prefix) : router(prefix),
        shared ? rows(prefix + "ffn_gate_shexp.weight") : 0,
        gated);
  }

  private Router router(String prefix) {
    int gating = fields.count(GATING);
    boolean usual = gating == 0 || gating == SOFTMAX;
    if (!usual && !(gating == SOFTMAX_OF_CHOSEN && architecture.has(Trait.CLAMPED_EXPERTS))) {
      throw fields.unsupported(GATING, "value " + gating);
    }
    return new Router(
        Scoring.SOFTMAX,
        has(prefix + "ffn_gate_inp.bias"),
        false,
        1,
        1,
        1,
        !architecture.has(Trait.GATED_SHARED_EXPERT),
        fields.factor("expert_weights_scale", 1));
  }

  /**
   * Builds the router. If the file names no scoring function, a correction bias implies the
   * sigmoid.
   */
  private Router grouped(String prefix) {
    boolean corrected = has(prefix + "exp_probs_b.bias");
    int gating = fields.count(GATING);
    if (gating > SIGMOID) {
      throw fields.unsupported(GATING, "value " + gating);
    }
    boolean sigmoid = gating == SIGMOID || gating == 0 && corrected;
    int groups = Math.max(1, fields.count("expert_group_count"));
    return new Router(
        sigmoid ? Scoring.SIGMOID : Scoring.SOFTMAX,
        false,
        corrected,
        groups,
        groups == 1 ? 1 : fields.size("expert_group_used_count"),
        sigmoid ? 2 : 1,
        fields.flag("expert_weights_norm", false),
        fields.factor("expert_weights_scale", 1));
  }

  private boolean has(String tensor) {
    return file.tensors().containsKey(tensor);
  }

  private int rows(String tensor) {
    return GgufConfig.rows(file, tensor, check);
  }
}
