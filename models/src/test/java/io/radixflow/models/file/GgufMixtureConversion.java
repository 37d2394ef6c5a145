package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The part of {@link GgufConversion} that is for experts and for latent attention. */
final class GgufMixtureConversion {

  private static final Pattern EXPERT =
      Pattern.compile(
          "model\\.layers\\.(\\d+)\\.(?:mlp|block_sparse_moe)\\.experts\\.(\\d+)\\.(\\w+)\\.weight");
  private static final Pattern STACK =
      Pattern.compile("model\\.layers\\.(\\d+)\\.mlp\\.experts\\.(gate_up|down)_proj(_\\w+)?");
  private static final Pattern OTHER =
      Pattern.compile(
          "model\\.layers\\.(\\d+)\\.(mlp\\.gate\\.e_score_correction_bias|self_attn\\.sinks"
              + "|mlp\\.shared_expert_gate\\.weight|self_attn\\.kv_b_proj\\.weight)");
  private static final Map<String, String> PROJECTIONS =
      Map.of(
          "gate_proj",
          "gate",
          "up_proj",
          "up",
          "down_proj",
          "down",
          "w1",
          "gate",
          "w3",
          "up",
          "w2",
          "down");

  /** Matrices of one projection of all experts of a layer, in the order of the experts. */
  private record Stack(int type, long[] shape, TreeMap<Integer, byte[]> experts) {}

  private final JsonNode config;
  private final String architecture;
  private final GgufBuilder builder;
  private final boolean older;
  private final Map<String, Stack> stacks = new TreeMap<>();
  private final Map<String, byte[]> codes = new TreeMap<>();

  /**
   * @param older whether keys and values of all heads stay one matrix, as before 2025
   */
  GgufMixtureConversion(JsonNode config, String architecture, GgufBuilder builder, boolean older) {
    this.config = config;
    this.architecture = architecture;
    this.builder = builder;
    this.older = older;
  }

  /** Adds the keys of experts and of latent attention. */
  void keys(JsonNode rope) {
    String[] counts = {"num_local_experts", "num_experts", "n_routed_experts"};
    for (String field : counts) {
      put("expert_count", config.get(field));
    }
    put("expert_used_count", config.get("num_experts_per_tok"));
    String width = architecture.equals("gpt-oss") ? "intermediate_size" : "moe_intermediate_size";
    put("expert_feed_forward_length", config.get(width));
    put("expert_shared_feed_forward_length", config.get("shared_expert_intermediate_size"));
    if (architecture.equals("glm4moe") || architecture.equals("deepseek2")) {
      put("expert_group_count", config.get("n_group"));
      put("expert_group_used_count", config.get("topk_group"));
      put("expert_shared_count", config.get("n_shared_experts"));
      put("leading_dense_block_count", config.get("first_k_dense_replace"));
      put("nextn_predict_layers", config.get("num_nextn_predict_layers"));
      key("expert_weights_scale", (float) config.get("routed_scaling_factor").doubleValue());
      boolean sigmoid = architecture.equals("glm4moe") || text("scoring_func").equals("sigmoid");
      if (!older) {
        key("expert_gating_func", sigmoid ? 2 : 1);
      }
      if (config.path("norm_topk_prob").asBoolean()) {
        key("expert_weights_norm", true);
      }
    }
    if (architecture.equals("glm4moe")) {
      double part = rope.path("partial_rotary_factor").asDouble(0.5);
      key("rope.dimension_count", (int) (config.get("head_dim").intValue() * part));
    }
    if (architecture.equals("deepseek2")) {
      latent(rope);
    }
  }

  private void latent(JsonNode rope) {
    int plain = config.get("qk_nope_head_dim").intValue();
    int rotated = config.get("qk_rope_head_dim").intValue();
    int rank = config.get("kv_lora_rank").intValue();
    int value = config.get("v_head_dim").intValue();
    key("rope.dimension_count", rotated);
    key("attention.kv_lora_rank", rank);
    if (config.hasNonNull("q_lora_rank")) {
      put("attention.q_lora_rank", config.get("q_lora_rank"));
    }
    key("attention.key_length", older ? plain + rotated : rank + rotated);
    key("attention.value_length", older ? value : rank);
    if (!older) {
      key("attention.head_count_kv", 1);
      key("attention.key_length_mla", plain + rotated);
      key("attention.value_length_mla", value);
    }
    if (rope.has("mscale_all_dim")) {
      double weight = 0.1 * rope.get("mscale_all_dim").doubleValue();
      key("rope.scaling.yarn_log_multiplier", (float) weight);
    }
  }

  private String text(String field) {
    return config.path(field).asText();
  }

  private void put(String name, JsonNode value) {
    if (value != null && value.isInt()) {
      key(name, value.intValue());
    }
  }

  private void key(String name, Object value) {
    builder.metadata.put(architecture + "." + name, value);
  }

  /** Takes a tensor that is stored otherwise than a matrix or a vector of the graph. */
  boolean accept(String name, int type, long[] shape, byte[] data) {
    Matcher expert = EXPERT.matcher(name);
    if (expert.matches()) {
      String all = stored(expert.group(1), PROJECTIONS.get(expert.group(3)), "weight");
      stacks
          .computeIfAbsent(all, ignored -> new Stack(type, shape, new TreeMap<>()))
          .experts
          .put(Integer.parseInt(expert.group(2)), data);
      return true;
    }
    Matcher stack = STACK.matcher(name);
    if (stack.matches()) {
      stack(stack.group(1), stack.group(2), stack.group(3), type, shape, data);
      return true;
    }
    Matcher other = OTHER.matcher(name);
    return other.matches() && accept("blk." + other.group(1), name, type, shape, data);
  }

  private boolean accept(String block, String name, int type, long[] shape, byte[] data) {
    if (name.endsWith("e_score_correction_bias")) {
      builder.tensor(block + ".exp_probs_b.bias", 0, floats(type, data), shape);
    } else if (name.endsWith("sinks")) {
      builder.tensor(block + ".attn_sinks.weight", 0, floats(type, data), shape);
    } else if (name.endsWith("shared_expert_gate.weight")) {
      builder.tensor(block + ".ffn_gate_inp_shexp.weight", type, data, shape[1]);
    } else if (!older) {
      heads(block, type, shape, data);
    } else {
      return false;
    }
    return true;
  }

  private static String stored(String layer, String projection, String suffix) {
    return "blk." + layer + ".ffn_" + projection + "_exps." + suffix;
  }

  private static byte[] floats(int type, byte[] data) {
    return type == 0 ? data : GgufConversion.floats("BF16", GgufConversion.little(data), 0);
  }

  /** Splits the matrix of all heads in keys, transposed, and values. */
  private void heads(String block, int type, long[] shape, byte[] data) {
    int heads = config.get("num_attention_heads").intValue();
    int plain = config.get("qk_nope_head_dim").intValue();
    int value = config.get("v_head_dim").intValue();
    int rank = (int) shape[1];
    int size = data.length / (heads * (plain + value) * rank);
    ByteArrayOutputStream keys = new ByteArrayOutputStream();
    ByteArrayOutputStream values = new ByteArrayOutputStream();
    for (int head = 0; head < heads; head++) {
      int first = head * (plain + value);
      for (int column = 0; column < rank; column++) {
        for (int row = first; row < first + plain; row++) {
          keys.write(data, (row * rank + column) * size, size);
        }
      }
      values.write(data, (first + plain) * rank * size, value * rank * size);
    }
    builder.tensor(block + ".attn_k_b.weight", type, keys.toByteArray(), plain, rank, heads);
    builder.tensor(block + ".attn_v_b.weight", type, values.toByteArray(), rank, value, heads);
  }

  /** A tensor of all experts; outputs of gate and up projection take turns. */
  private void stack(
      String layer, String projection, String kind, int type, long[] shape, byte[] data) {
    boolean both = projection.equals("gate_up");
    for (String one : both ? new String[] {"gate", "up"} : new String[] {"down"}) {
      int first = one.equals("up") ? 1 : 0;
      int turns = both ? 2 : 1;
      if (kind == null) {
        transposed(stored(layer, one, "weight"), type, shape, data, first, turns);
      } else if (kind.equals("_bias")) {
        byte[] bias = every(floats(type, data), 4, first, turns);
        builder.tensor(stored(layer, one, "bias"), 0, bias, shape[1] / turns, shape[0]);
      } else {
        mxfp4(stored(layer, one, "weight"), kind, shape, data, first, turns);
      }
    }
  }

  /** Transposes [expert, in, out] to rows of outputs. */
  private void transposed(String name, int type, long[] shape, byte[] data, int first, int turns) {
    int in = (int) shape[1];
    int out = (int) shape[2];
    int size = (int) (data.length / (shape[0] * in * out));
    ByteArrayOutputStream rows = new ByteArrayOutputStream();
    for (int expert = 0; expert < shape[0]; expert++) {
      for (int row = first; row < out; row += turns) {
        for (int column = 0; column < in; column++) {
          rows.write(data, ((expert * in + column) * out + row) * size, size);
        }
      }
    }
    builder.tensor(name, type, rows.toByteArray(), in, out / turns, shape[0]);
  }

  /** Every so many units of so many bytes. */
  private static byte[] every(byte[] data, int bytes, int first, int turns) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int at = first * bytes; at < data.length; at += turns * bytes) {
      out.write(data, at, bytes);
    }
    return out.toByteArray();
  }

  /** Joins codes and exponents, which are stored apart, in blocks of 17 bytes. */
  private void mxfp4(String name, String kind, long[] shape, byte[] data, int first, int turns) {
    int blocks = (int) shape[2];
    boolean isCodes = kind.equals("_blocks");
    byte[] mine = every(data, isCodes ? 16 * blocks : blocks, first, turns);
    byte[] others = codes.putIfAbsent(name, mine);
    if (others == null) {
      return;
    }
    byte[] pairs = isCodes ? mine : others;
    byte[] exponents = isCodes ? others : mine;
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int block = 0; block < exponents.length; block++) {
      out.write(exponents[block]);
      for (int i = 0; i < 16; i++) {
        out.write(code(pairs, block, i) | code(pairs, block, i + 16) << 4);
      }
    }
    builder.tensor(name, 39, out.toByteArray(), 32L * blocks, shape[1] / turns, shape[0]);
  }

  private static int code(byte[] pairs, int block, int element) {
    return pairs[16 * block + element / 2] >> 4 * (element % 2) & 15;
  }

  /** Adds the tensors whose parts are complete once all of the directory was seen. */
  void finish() {
    stacks.forEach(
        (name, stack) -> {
          byte[] all = GgufBuilder.join(stack.experts.values().toArray(byte[][]::new));
          long count = stack.experts.size();
          builder.tensor(name, stack.type, all, stack.shape[1], stack.shape[0], count);
        });
  }
}
