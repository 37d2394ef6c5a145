package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.FeedForward;
import io.radixflow.kernels.model.FeedForward.Dense;
import io.radixflow.kernels.model.FeedForward.Experts;
import io.radixflow.kernels.model.FeedForward.Gating;
import io.radixflow.kernels.model.FeedForward.Router;
import io.radixflow.kernels.model.Layer;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelConfig.Norm;
import io.radixflow.kernels.model.ModelConfig.Scales;
import io.radixflow.kernels.model.file.GgufArchitecture.Trait;
import java.util.ArrayList;
import java.util.List;

/**
 * Derives a {@link ModelConfig} from GGUF metadata and refuses by name what it cannot express. The
 * divisors of the rotary frequencies, a tensor, are not in it yet.
 */
final class GgufConfig {

  /** Keys that change the graph: the model is refused unless the value is 0 or absent. */
  private static final List<String> UNSUPPORTED =
      List.of(
          "expert_group_count",
          "leading_dense_block_count",
          "attention.q_lora_rank",
          "attention.kv_lora_rank",
          "attention.clamp_kqv",
          "attention.max_alibi_bias",
          "attention.output_scale",
          "attention.value_scale",
          "attention.shared_kv_layers",
          "embedding_length_per_layer_input",
          "rope.scaling.alpha",
          "nextn_predict_layers");

  private final GgufFile file;
  private final SupportedShapes check;
  private final GgufArchitecture architecture;
  private final GgufFields fields;

  private GgufConfig(GgufFile file) {
    this.file = file;
    check = new SupportedShapes(file.metadata().file().toString());
    architecture = GgufArchitecture.of(file.metadata().string("general.architecture"), check);
    fields = new GgufFields(file.metadata(), architecture, check);
  }

  static ModelConfig read(GgufFile file) {
    return new GgufConfig(file).read();
  }

  /** Positions that a model was trained for before its rotary embedding was scaled. */
  static int originalContext(GgufFile file) {
    GgufConfig config = new GgufConfig(file);
    return new GgufRope(config.fields, config.architecture).originalContext();
  }

  private ModelConfig read() {
    refuse();
    GgufMetadata metadata = file.metadata();
    int layers = check.layers(fields.size("block_count"));
    GgufAttention attention =
        new GgufAttention(fields, architecture, file.tensors().keySet(), layers);
    FeedForward feedForward = fields.count("expert_count") > 0 ? experts() : dense();
    List<Layer> blocks = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      blocks.add(new Layer(attention.layer(layer), feedForward, architecture.norms()));
    }
    return check.consistent(
        new ModelConfig(
            architecture.type(),
            metadata.has("general.name") ? metadata.string("general.name") : architecture.type(),
            rows("token_embd.weight"),
            fields.size("context_length"),
            fields.size("embedding_length"),
            norm(),
            scales(),
            blocks,
            !file.tensors().containsKey("output.weight")));
  }

  private void refuse() {
    for (String name : UNSUPPORTED) {
      double value = fields.real(name, 0);
      if (value != 0) {
        throw fields.unsupported(name, "value " + value);
      }
    }
    if (fields.has("rope.dimension_sections")) {
      throw fields.unsupported("rope.dimension_sections", "rotary embedding of images");
    }
    if (!fields.flag("attention.causal", true)) {
      throw fields.unsupported("attention.causal", "bidirectional attention");
    }
  }

  private Norm norm() {
    if (architecture.has(Trait.CENTRED_NORMS)) {
      float epsilon = epsilon("attention.layer_norm_epsilon");
      return new Norm(true, epsilon, epsilon);
    }
    return Norm.rms(epsilon("attention.layer_norm_rms_epsilon"));
  }

  private float epsilon(String name) {
    if (!fields.has(name)) {
      throw fields.error(name, "missing");
    }
    return (float) fields.real(name, 0);
  }

  private Scales scales() {
    boolean byWidth = architecture.has(Trait.EMBEDDING_SCALED_BY_WIDTH);
    double embedding = byWidth ? Math.sqrt(fields.size("embedding_length")) : 1;
    return new Scales(
        fields.factor("embedding_scale", embedding),
        fields.factor("residual_scale", 1),
        logitScale(),
        fields.bound("final_logit_softcapping", architecture.usualLogitCap()));
  }

  private float logitScale() {
    float scale = fields.factor("logit_scale", 1);
    if (architecture.has(Trait.LOGITS_DIVIDED)) {
      return 1 / scale;
    }
    if (scale != 1 && !architecture.has(Trait.LOGITS_MULTIPLIED)) {
      throw fields.unsupported("logit_scale", "value " + scale);
    }
    return scale;
  }

  private Dense dense() {
    Gating gating = architecture.has(Trait.GELU) ? Gating.GELU_TANH : Gating.SILU;
    boolean bias = file.tensors().containsKey("blk.0.ffn_down.bias");
    return new Dense(fields.size("feed_forward_length"), gating, 0, bias);
  }

  /** All layers have experts in these files; how wide these are, their tensors say. */
  private Experts experts() {
    if (!architecture.has(Trait.EXPERTS)) {
      throw fields.unsupported("expert_count", "a mixture of experts");
    }
    int gating = fields.count("expert_gating_func");
    if (gating > 1) {
      throw fields.unsupported("expert_gating_func", "value " + gating);
    }
    boolean shared = architecture.has(Trait.GATED_SHARED_EXPERT);
    boolean stacked = file.tensors().containsKey("blk.0.ffn_gate_exps.weight");
    return new Experts(
        fields.size("expert_count"),
        fields.size("expert_used_count"),
        Dense.silu(rows(stacked ? "blk.0.ffn_gate_exps.weight" : "blk.0.ffn_gate.0.weight")),
        Router.softmax(!shared),
        shared ? rows("blk.0.ffn_gate_shexp.weight") : 0,
        shared);
  }

  private int rows(String name) {
    GgufTensor tensor = file.tensors().get(name);
    if (tensor == null || tensor.dimensions().length < 2) {
      throw check.error("tensor " + name + " is missing or not a matrix");
    }
    return check.size("rows of " + name, tensor.dimensions()[1]);
  }
}
