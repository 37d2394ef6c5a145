package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.FeedForward.Dense;
import io.radixflow.kernels.model.FeedForward.Experts;
import io.radixflow.kernels.model.FeedForward.Router;
import io.radixflow.kernels.model.Layer;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Rope;
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
          "attn_logit_softcapping",
          "final_logit_softcapping",
          "attention.q_lora_rank",
          "attention.kv_lora_rank",
          "attention.clamp_kqv",
          "attention.max_alibi_bias",
          "attention.scale",
          "attention.temperature_scale",
          "attention.shared_kv_layers",
          "logit_scale",
          "embedding_scale",
          "residual_scale",
          "nextn_predict_layers");

  private final GgufFile file;
  private final GgufMetadata metadata;
  private final SupportedShapes check;
  private final String architecture;

  private GgufConfig(GgufFile file) {
    this.file = file;
    metadata = file.metadata();
    check = new SupportedShapes(metadata.file().toString());
    architecture = metadata.string("general.architecture");
    check.architecture(architecture, List.of("llama", "qwen2", "qwen3", "qwen2moe", "qwen3moe"));
  }

  static ModelConfig read(GgufFile file) {
    return new GgufConfig(file).read();
  }

  private ModelConfig read() {
    refuse();
    int hidden = size("embedding_length");
    int heads = size("attention.head_count");
    int kvHeads = size("attention.head_count_kv", heads);
    int headDim = size("attention.key_length", hidden / heads);
    if (size("attention.value_length", headDim) != headDim) {
      throw check.unsupported(key("attention.value_length"), "V narrower or wider than K");
    }
    if (size("rope.dimension_count", headDim) != headDim) {
      throw check.unsupported(key("rope.dimension_count"), "rotary embedding of a part of a head");
    }
    ModelConfig config =
        ModelConfig.uniform(
            architecture,
            metadata.has("general.name") ? metadata.string("general.name") : architecture,
            vocabulary(),
            context(),
            size("block_count"),
            hidden,
            experts() > 0 ? size("feed_forward_length", 1) : size("feed_forward_length"),
            heads,
            kvHeads,
            headDim,
            (float) metadata.real(key("attention.layer_norm_rms_epsilon")),
            rope(),
            architecture.startsWith("qwen2"),
            architecture.startsWith("qwen3"),
            !file.tensors().containsKey("output.weight"));
    return check.consistent(experts() > 0 ? withExperts(config) : config);
  }

  /** Experts of each layer; 0 for none. */
  private int experts() {
    return metadata.has(key("expert_count")) && metadata.integer(key("expert_count")) != 0
        ? size("expert_count")
        : 0;
  }

  /** All layers have experts in these files; how wide these are, their tensors say. */
  private ModelConfig withExperts(ModelConfig config) {
    if (architecture.equals("qwen2") || architecture.equals("qwen3")) {
      throw check.unsupported(key("expert_count"), "a mixture of experts");
    }
    String gating = key("expert_gating_func");
    if (metadata.has(gating) && metadata.integer(gating) > 1) {
      throw check.unsupported(gating, "value " + metadata.integer(gating));
    }
    boolean shared = architecture.equals("qwen2moe");
    int width =
        file.tensors().containsKey("blk.0.ffn_gate_exps.weight")
            ? rows("blk.0.ffn_gate_exps.weight")
            : rows("blk.0.ffn_gate.0.weight");
    Experts experts =
        new Experts(
            experts(),
            size("expert_used_count"),
            Dense.silu(width),
            Router.softmax(!shared),
            shared ? rows("blk.0.ffn_gate_shexp.weight") : 0,
            shared);
    return config.withBlocks(
        config.blocks().stream()
            .map(layer -> new Layer(layer.attention(), experts, layer.norms()))
            .toList());
  }

  private int rows(String name) {
    GgufTensor tensor = file.tensors().get(name);
    if (tensor == null || tensor.dimensions().length < 2) {
      throw check.error("tensor " + name + " is missing or not a matrix");
    }
    return check.size("rows of " + name, tensor.dimensions()[1]);
  }

  private void refuse() {
    for (String name : UNSUPPORTED) {
      if (metadata.has(key(name)) && number(key(name)) != 0) {
        throw check.unsupported(key(name), "value " + number(key(name)));
      }
    }
    String causal = key("attention.causal");
    if (metadata.has(causal) && !metadata.bool(causal)) {
      throw check.unsupported(causal, "bidirectional attention");
    }
    String window = key("attention.sliding_window");
    if (metadata.has(window)) {
      long tokens = metadata.integer(window);
      if (tokens > 0 && tokens < context()) {
        throw check.unsupported(window, "a sliding window of " + tokens + " tokens");
      }
    }
  }

  private Rope rope() {
    String base = key("rope.freq_base");
    String type = key("rope.scaling.type");
    if (metadata.has(type) && !metadata.string(type).equals("none")) {
      throw check.unsupported(type, "rope scaling '" + metadata.string(type) + "'");
    }
    String linear = key("rope.scale_linear");
    if (metadata.has(linear) && metadata.real(linear) != 1) {
      throw check.unsupported(linear, "linear rope scaling");
    }
    double theta = metadata.has(base) ? metadata.real(base) : 10000;
    boolean interleaved = architecture.equals("llama");
    return new Rope(theta, interleaved, null);
  }

  private int vocabulary() {
    GgufTensor embedding = file.tensors().get("token_embd.weight");
    if (embedding == null || embedding.dimensions().length != 2) {
      throw new ModelFormatException(
          metadata.file() + ": tensor token_embd.weight is missing or not a matrix");
    }
    return check.size("rows of token_embd.weight", embedding.dimensions()[1]);
  }

  private int context() {
    return check.size(key("context_length"), metadata.integer(key("context_length")));
  }

  private int size(String name) {
    return check.size(key(name), metadata.integer(key(name)));
  }

  private int size(String name, int otherwise) {
    return metadata.has(key(name)) ? size(name) : otherwise;
  }

  private double number(String key) {
    try {
      return metadata.real(key);
    } catch (ModelFormatException notReal) {
      return metadata.integer(key);
    }
  }

  private String key(String name) {
    return architecture + "." + name;
  }
}
