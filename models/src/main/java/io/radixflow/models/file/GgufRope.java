package io.radixflow.models.file;

import io.radixflow.models.Rope;
import io.radixflow.models.Rope.LinearScaling;
import io.radixflow.models.Rope.YarnScaling;
import io.radixflow.models.file.GgufArchitecture.Trait;
import java.util.List;

/**
 * The rotary embeddings that the metadata of a GGUF file describe. They do not include the divisors
 * of the frequencies, which are tensors: {@link GgufModel} adds them.
 */
record GgufRope(GgufFields fields, GgufArchitecture architecture) {
  /**
   * Returns the embedding of a layer.
   *
   * @param windowed whether the layer has a sliding window
   * @param headDim elements of a head
   */
  Rope read(boolean windowed, int headDim) {
    double base = fields.real("rope.freq_base", 10_000);
    if (windowed) {
      base = fields.real("rope.freq_base_swa", architecture.usualWindowBase(base));
    }
    boolean neighbours = architecture.has(Trait.NEIGHBOURS);
    Rope plain = new Rope(base, neighbours, null, List.of(), part(headDim), 1);
    if (windowed && architecture.has(Trait.WINDOWS_NOT_SCALED)) {
      return plain;
    }
    double magnitude = fields.positive("rope.scaling.attn_factor", 1);
    String kind = fields.text("rope.scaling.type", "linear");
    return switch (kind) {
      case "none", "longrope" -> scaled(plain, null, magnitude);
      case "linear" -> scaled(plain, factor() == 1 ? null : new LinearScaling(factor()), magnitude);
      case "yarn" -> yarn(plain, magnitude);
      default -> throw fields.unsupported("rope.scaling.type", "rope scaling '" + kind + "'");
    };
  }

  /** The factor of the scores that yarn's log multiplier requires. */
  double scoreFactor() {
    if (!fields.text("rope.scaling.type", "linear").equals("yarn")) {
      return 1;
    }
    double magnitude = YarnScaling.magnitude(factor(), logMultiplier());
    return magnitude * magnitude;
  }

  /** Weight of the logarithm of yarn's factor; 0 for none. */
  private double logMultiplier() {
    double weight = fields.positive("rope.scaling.yarn_log_multiplier", 0);
    // Converters store a tenth of the weight for models with latent attention.
    return architecture.has(Trait.LATENT) ? (float) (10 * weight) : weight;
  }

  /** Number of positions that the model was trained for before its rotary embedding was scaled. */
  int originalContext() {
    String name = "rope.scaling.original_context_length";
    return fields.count(name) > 0 ? fields.size(name) : fields.size("context_length");
  }

  /**
   * The share of a head that is rotated, chosen so that multiplying by it gives the exact width
   * again.
   */
  private double part(int headDim) {
    int width = fields.size("rope.dimension_count", headDim);
    if (width > headDim || width % 2 != 0) {
      throw fields.error(
          "rope.dimension_count",
          width + " of a head's " + headDim + " elements; rotary embedding needs pairs");
    }
    double part = (double) width / headDim;
    return (int) (headDim * part) == width ? part : Math.nextUp(part);
  }

  private static Rope scaled(Rope rope, Rope.Scaling scaling, double magnitude) {
    return new Rope(rope.base(), rope.interleaved(), scaling, List.of(), rope.part(), magnitude);
  }

  private double factor() {
    double factor = fields.positive("rope.scaling.factor", fields.positive("rope.scale_linear", 1));
    if (factor < 1) {
      throw fields.error("rope.scaling.factor", factor + "; expected 1 or more");
    }
    return factor;
  }

  private Rope yarn(Rope plain, double magnitude) {
    double extrapolated = fields.real("rope.scaling.yarn_ext_factor", 1);
    if (extrapolated != 1) {
      throw fields.unsupported("rope.scaling.yarn_ext_factor", "value " + extrapolated);
    }
    double factor = factor();
    double weight = logMultiplier();
    // With latent attention, the log multiplier applies only to the scores.
    boolean scores = weight != 0 && architecture.has(Trait.LATENT);
    double usual =
        scores ? 1 : YarnScaling.magnitude(factor, 1) / YarnScaling.magnitude(factor, weight);
    YarnScaling scaling =
        new YarnScaling(
            factor,
            originalContext(),
            fields.positive("rope.scaling.yarn_beta_fast", 32),
            fields.positive("rope.scaling.yarn_beta_slow", 1),
            !architecture.has(Trait.YARN_NOT_TRUNCATED));
    return scaled(
        plain, scaling, magnitude * fields.positive("rope.scaling.yarn_attn_factor", usual));
  }
}
