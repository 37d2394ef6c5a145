package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.Attention.QueryGrowth;
import io.radixflow.models.Rope;
import io.radixflow.models.Rope.LinearScaling;
import io.radixflow.models.Rope.Llama3Scaling;
import io.radixflow.models.Rope.Scaling;
import io.radixflow.models.Rope.YarnScaling;
import java.util.ArrayList;
import java.util.List;

/**
 * The rotary embeddings that a {@code config.json} describes, with the field names of published
 * models ({@code rope_theta}, {@code rope_scaling}) or of version 5 of the library ({@code
 * rope_parameters}, for all layers or per kind of layer).
 */
record HuggingFaceRope(ConfigFields config, HuggingFaceFamily family) {
  /**
   * Returns the embedding of a layer.
   *
   * @param windowed whether the layer has a sliding window
   * @param headDim elements of a head, or of its rotated part if only that part is rotated
   */
  Rope read(boolean windowed, int headDim) {
    ConfigFields parameters = parameters(windowed);
    double part = part(parameters);
    int width = (int) (headDim * part);
    if (!(part > 0 && part <= 1) || width < 2 || width % 2 != 0) {
      throw config.error(
          "rotary embedding of " + width + " elements of a head; rotary embedding needs pairs");
    }
    double base = parameters.real("rope_theta", theta(windowed));
    Rope plain = new Rope(base, interleaved(), null, List.of(), part, 1);
    String kind = kind(parameters);
    return switch (kind) {
      // Dynamic scaling begins after the trained context, and sequences never grow longer than
      // that.
      case "default", "dynamic" -> plain;
      case "linear" -> scaled(plain, new LinearScaling(factor(parameters)), 1);
      case "llama3" -> scaled(plain, llama3(parameters), 1);
      case "yarn" -> yarn(plain, parameters);
      case "longrope" -> longrope(plain, parameters, width);
      default -> throw config.unsupported("rope_scaling", "type '" + kind + "'");
    };
  }

  private double part(ConfigFields parameters) {
    String field = "partial_rotary_factor";
    double part = parameters.real(field, config.real(field, family.rotatedPart()));
    if (part != 1 && !family.readsRotatedPart()) {
      throw config.unsupported(field, Double.toString(part));
    }
    return part;
  }

  /** The factor by which queries grow with their position; null for none. */
  QueryGrowth growth() {
    ConfigFields parameters = parameters(false);
    double beta = parameters.real("llama_4_scaling_beta", 0);
    return beta == 0 ? null : new QueryGrowth(beta, original(parameters));
  }

  /** The factor of the scores that yarn's {@code mscale_all_dim} requires. */
  double scoreFactor() {
    ConfigFields parameters = parameters(false);
    double weight = parameters.real("mscale_all_dim", 0);
    if (weight == 0 || kind(parameters).equals("default")) {
      return 1;
    }
    double magnitude = YarnScaling.magnitude(factor(parameters), weight);
    return magnitude * magnitude;
  }

  private boolean interleaved() {
    boolean interleaved = family.interleaved();
    return family == HuggingFaceFamily.DEEPSEEK_V3
        ? config.flag("rope_interleave", interleaved)
        : interleaved;
  }

  private String kind(ConfigFields parameters) {
    String kind = parameters.text("rope_type", parameters.text("type", "default"));
    boolean older = kind.equals("su") || kind.equals("yarn");
    return family == HuggingFaceFamily.PHI3 && older ? "longrope" : kind;
  }

  private ConfigFields parameters(boolean windowed) {
    ConfigFields parameters = config.object("rope_parameters");
    String kind = windowed ? "sliding_attention" : "full_attention";
    if (parameters.isObject("full_attention") || parameters.isObject("sliding_attention")) {
      return parameters.object(kind);
    }
    if (!ownKinds()) {
      return outer();
    }
    if (config.has("rope_parameters")) {
      throw config.error(
          "rope_parameters: expected an object for full_attention and one for sliding_attention");
    }
    return windowed ? config.of(JsonNodeFactory.instance.objectNode()) : outer();
  }

  private boolean ownKinds() {
    return family.is(HuggingFaceFamily.GEMMA3_TEXT, HuggingFaceFamily.OLMO3);
  }

  /**
   * In families whose windowed layers have their own base, these layers ignore {@code rope_theta}.
   */
  private double theta(boolean windowed) {
    if (!windowed || !ownKinds()) {
      return config.real("rope_theta", family.theta());
    }
    return family == HuggingFaceFamily.OLMO3
        ? family.theta()
        : config.real("rope_local_base_freq", 10_000);
  }

  private static Rope scaled(Rope rope, Scaling scaling, double magnitude) {
    return new Rope(rope.base(), rope.interleaved(), scaling, List.of(), rope.part(), magnitude);
  }

  private double factor(ConfigFields parameters) {
    double factor = parameters.real("factor", Double.NaN);
    if (!(factor >= 1 && factor < Double.POSITIVE_INFINITY)) {
      throw config.error("rope_scaling: factor " + factor + "; expected 1 or more");
    }
    return factor;
  }

  private int original(ConfigFields parameters) {
    String field = "original_max_position_embeddings";
    int inner = parameters.size(field, context());
    return config.size(field, family == HuggingFaceFamily.PHI3 ? 4096 : inner);
  }

  /** Number of positions, after scaling. */
  private int context() {
    return config.size("max_position_embeddings", family.context());
  }

  private Llama3Scaling llama3(ConfigFields parameters) {
    double factor = parameters.real("factor", Double.NaN);
    double low = parameters.real("low_freq_factor", Double.NaN);
    double high = parameters.real("high_freq_factor", Double.NaN);
    if (!(factor >= 1 && low > 0 && high > low)) {
      throw config.error(
          String.format(
              "rope_scaling: factor %s, low_freq_factor %s, high_freq_factor %s; expected factor "
                  + ">= 1 and 0 < low < high",
              factor, low, high));
    }
    return new Llama3Scaling(factor, low, high, original(parameters));
  }

  private Rope yarn(Rope plain, ConfigFields parameters) {
    int original = original(parameters);
    double factor = parameters.has("factor") ? factor(parameters) : (double) context() / original;
    double mscale = parameters.real("mscale", 0);
    double allDim = parameters.real("mscale_all_dim", 0);
    double usual =
        mscale != 0 && allDim != 0
            ? YarnScaling.magnitude(factor, mscale) / YarnScaling.magnitude(factor, allDim)
            : YarnScaling.magnitude(factor, 1);
    double fast = orDefault(parameters.real("beta_fast", 32), 32);
    double slow = orDefault(parameters.real("beta_slow", 1), 1);
    boolean truncated = outer().flag("truncate", true);
    if (!(fast > 0 && slow > 0)) {
      throw config.error("rope_scaling: beta_fast and beta_slow must be positive");
    }
    return scaled(
        plain,
        new YarnScaling(factor, original, fast, slow, truncated),
        parameters.positive("attention_factor", usual));
  }

  private static double orDefault(double value, double otherwise) {
    return value == 0 ? otherwise : value;
  }

  /** The parameters of all kinds of layers. {@code truncate} is read only from these. */
  private ConfigFields outer() {
    if (config.has("rope_scaling")) {
      return config.object("rope_scaling");
    }
    return config.has("rope_parameters") ? config.object("rope_parameters") : defaults();
  }

  /** Returns the parameters that the library assumes if the file has none. */
  private ConfigFields defaults() {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    if (family == HuggingFaceFamily.GPT_OSS) {
      json.put("type", "yarn").put("factor", 32).put("truncate", false);
      json.put("original_max_position_embeddings", 4096);
    } else if (family == HuggingFaceFamily.MINISTRAL3) {
      json.put("type", "yarn").put("factor", 16).put("mscale", 1).put("mscale_all_dim", 1);
      json.put("original_max_position_embeddings", 16384).put("llama_4_scaling_beta", 0.1);
    }
    return config.of(json);
  }

  /** Uses the long factors if the context length exceeds the original one. */
  private Rope longrope(Rope plain, ConfigFields parameters, int width) {
    int original = original(parameters);
    int context = context();
    double factor = parameters.real("factor", (double) context / original);
    double usual =
        factor <= 1 ? 1 : Math.sqrt(1 + StrictMath.log(factor) / StrictMath.log(original));
    String field = context > original ? "long_factor" : "short_factor";
    List<Float> divisors = new ArrayList<>();
    for (JsonNode value : parameters.get(field)) {
      if (!value.isNumber() || !(value.floatValue() > 0 && value.floatValue() < Float.MAX_VALUE)) {
        throw config.error("rope_scaling: " + field + " has a value that is not a positive number");
      }
      divisors.add(value.floatValue());
    }
    if (divisors.size() != width / 2) {
      throw config.error(
          String.format(
              "rope_scaling: %s has %s values; expected %s", field, divisors.size(), width / 2));
    }
    return new Rope(
        plain.base(),
        plain.interleaved(),
        null,
        divisors,
        plain.part(),
        parameters.positive("attention_factor", usual));
  }
}
