package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.FeedForward;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Gating;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelConfig.Norm;
import io.radixflow.models.ModelConfig.Scales;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Derives a {@link ModelConfig} from a {@code config.json}. Rejects unsupported settings by name.
 * Defaults are the same as in the transformers library.
 */
final class HuggingFaceConfig {

  /** Fields that change the graph, each with the values (other than null) that do not change it. */
  private static final Map<String, List<String>> UNSUPPORTED =
      Map.ofEntries(
          Map.entry("attention_bias", List.of("false")),
          Map.entry("mlp_bias", List.of("false")),
          Map.entry("use_sliding_window", List.of("false")),
          Map.entry("attn_logit_softcapping", List.of()),
          Map.entry("final_logit_softcapping", List.of()),
          Map.entry("num_local_experts", List.of("0")),
          Map.entry("num_experts", List.of("0")),
          Map.entry("n_routed_experts", List.of("0")),
          Map.entry("kv_lora_rank", List.of()),
          Map.entry("q_lora_rank", List.of()),
          Map.entry("embedding_multiplier", List.of("1.0", "1")),
          Map.entry("residual_multiplier", List.of("1.0", "1")),
          Map.entry("attention_multiplier", List.of()),
          Map.entry("logits_scaling", List.of("1.0", "1")),
          Map.entry("logit_scale", List.of("1.0", "1")),
          Map.entry("no_rope_layers", List.of()),
          Map.entry("rope_interleaved", List.of("false")),
          Map.entry("use_qk_norm", List.of("false")),
          Map.entry("use_bidirectional_attention", List.of("false")),
          Map.entry("use_parallel_block", List.of("true")),
          Map.entry("use_gated_activation", List.of("true")),
          Map.entry("moe_layer_freq", List.of("1")),
          Map.entry("dual_chunk_attention_config", List.of()),
          Map.entry("is_causal", List.of("true")));

  private final String name;
  private final ConfigFields config;
  private final SupportedShapes check;
  private final HuggingFaceFamily family;
  private final int layers;

  private HuggingFaceConfig(String file, String name, JsonNode json) {
    this.name = name;
    check = new SupportedShapes(file);
    config = new ConfigFields(json, check);
    family = HuggingFaceFamily.of(json.path("model_type").asText(""), check);
    layers = check.layers(config.size("num_hidden_layers"));
  }

  /**
   * @param file named in errors
   * @param name the model's display name
   */
  static ModelConfig read(String file, String name, JsonNode json) {
    return new HuggingFaceConfig(file, name, json).read();
  }

  private ModelConfig read() {
    refuse();
    HuggingFaceAttention attention = new HuggingFaceAttention(config, family, layers);
    List<Layer> blocks = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      blocks.add(new Layer(attention.layer(layer), feedForward(layer), family.norms()));
    }
    return check.consistent(
        new ModelConfig(
            family.type(),
            name,
            config.size("vocab_size"),
            config.size("max_position_embeddings", family.context()),
            config.size("hidden_size"),
            norm(),
            scales(),
            blocks,
            config.flag("tie_word_embeddings", family.tied())));
  }

  private void refuse() {
    Set<String> read = fieldsThatAreRead();
    for (Map.Entry<String, List<String>> entry : UNSUPPORTED.entrySet()) {
      JsonNode value = config.get(entry.getKey());
      boolean matters = ConfigFields.present(value) && !read.contains(entry.getKey());
      if (matters && !entry.getValue().contains(value.asText())) {
        String shown = value.isValueNode() ? value.asText() : "a value";
        throw check.unsupported(entry.getKey(), shown);
      }
    }
  }

  private Set<String> fieldsThatAreRead() {
    Set<String> read = new HashSet<>();
    addIf(read, family.readsBias(), "attention_bias");
    addIf(read, family.readsMlpBias(), "mlp_bias");
    addIf(read, family.asksForWindows(), "use_sliding_window");
    addIf(read, family.gemma(), "attn_logit_softcapping", "final_logit_softcapping");
    addIf(read, family.mixture(), "num_local_experts", "num_experts", "n_routed_experts");
    addIf(read, family.deepseek(), "kv_lora_rank", "q_lora_rank");
    addIf(
        read,
        family == HuggingFaceFamily.GRANITE,
        "embedding_multiplier",
        "residual_multiplier",
        "attention_multiplier",
        "logits_scaling");
    addIf(read, family == HuggingFaceFamily.COHERE2, "logit_scale");
    addIf(read, family == HuggingFaceFamily.SMOLLM3, "no_rope_layers");
    addIf(read, family == HuggingFaceFamily.GLM4_MOE, "use_qk_norm");
    return read;
  }

  private static void addIf(Set<String> read, boolean reads, String... fields) {
    if (reads) {
      read.addAll(List.of(fields));
    }
  }

  private Norm norm() {
    boolean centred = family == HuggingFaceFamily.COHERE2;
    String field = centred ? "layer_norm_eps" : "rms_norm_eps";
    return new Norm(centred, (float) config.real(field, family.epsilon()), 1e-6f);
  }

  private Scales scales() {
    float embedding = family.gemma() ? (float) Math.sqrt(config.size("hidden_size")) : 1;
    return switch (family) {
      case GRANITE ->
          new Scales(
              config.factor("embedding_multiplier", 1),
              config.factor("residual_multiplier", 1),
              1 / config.factor("logits_scaling", 1),
              0);
      case COHERE2 -> new Scales(1, 1, config.factor("logit_scale", 0.0625), 0);
      case GEMMA2 -> new Scales(embedding, 1, 1, cap("final_logit_softcapping", 30));
      case GEMMA3_TEXT -> new Scales(embedding, 1, 1, cap("final_logit_softcapping", 0));
      default -> Scales.NONE;
    };
  }

  /** Returns a bound, which null turns off. */
  private float cap(String field, float otherwise) {
    if (config.get(field).isNull()) {
      return 0;
    }
    return config.has(field) ? config.factor(field, otherwise) : otherwise;
  }

  private FeedForward feedForward(int layer) {
    boolean bias = family.readsMlpBias() && config.flag("mlp_bias", false);
    Gating gating = gating();
    if (family.mixture()) {
      HuggingFaceExperts experts = new HuggingFaceExperts(config, family, gating);
      if (experts.in(layer)) {
        return experts.read();
      }
    }
    return new Dense(config.size("intermediate_size"), gating, 0, bias);
  }

  private Gating gating() {
    String field = family.gemma() ? "hidden_activation" : "hidden_act";
    String name = config.text(field, family.gemma() ? "gelu_pytorch_tanh" : "silu");
    return switch (name) {
      case "silu", "swish" -> Gating.SILU;
      case "gelu_pytorch_tanh" -> Gating.GELU_TANH;
      case "gelu" -> Gating.GELU;
      default -> throw check.unsupported(field, name);
    };
  }
}
