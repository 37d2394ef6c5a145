package io.radixflow.models.file;

import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.GraphTensors;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.tensor.StoredPart;
import io.radixflow.models.tensor.StoredPart.Place;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/** Finds the tensors of the graph in a checkpoint of the transformers library. */
final class HuggingFaceNames {
  private static final Map<String, String> ROOT =
      Map.of(
          "token_embd", "model.embed_tokens",
          "output", "lm_head",
          "output_norm", "model.norm");
  private static final Map<String, String> BLOCK =
      Map.ofEntries(
          Map.entry("attn_norm", "input_layernorm"),
          Map.entry("attn_q", "self_attn.q_proj"),
          Map.entry("attn_k", "self_attn.k_proj"),
          Map.entry("attn_v", "self_attn.v_proj"),
          Map.entry("attn_output", "self_attn.o_proj"),
          Map.entry("attn_q_norm", "self_attn.q_norm"),
          Map.entry("attn_k_norm", "self_attn.k_norm"),
          Map.entry("attn_q_a", "self_attn.q_a_proj"),
          Map.entry("attn_q_a_norm", "self_attn.q_a_layernorm"),
          Map.entry("attn_q_b", "self_attn.q_b_proj"),
          Map.entry("attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"),
          Map.entry("attn_kv_a_norm", "self_attn.kv_a_layernorm"),
          Map.entry("post_attention_norm", "post_attention_layernorm"),
          Map.entry("ffn_norm", "post_attention_layernorm"),
          Map.entry("post_ffw_norm", "post_feedforward_layernorm"),
          Map.entry("ffn_gate", "mlp.gate_proj"),
          Map.entry("ffn_up", "mlp.up_proj"),
          Map.entry("ffn_down", "mlp.down_proj"),
          Map.entry("ffn_gate_inp", "mlp.gate"),
          Map.entry("ffn_gate_inp_shexp", "mlp.shared_expert_gate"),
          Map.entry("ffn_gate_shexp", "mlp.shared_experts.gate_proj"),
          Map.entry("ffn_up_shexp", "mlp.shared_experts.up_proj"),
          Map.entry("ffn_down_shexp", "mlp.shared_experts.down_proj"));

  /** The names of a family where they differ from {@link #BLOCK}. */
  private static final Map<HuggingFaceFamily, Map<String, String>> OWN =
      Map.of(
          HuggingFaceFamily.GLM4,
          Map.of(
              "post_attention_norm", "post_self_attn_layernorm",
              "post_ffw_norm", "post_mlp_layernorm"),
          HuggingFaceFamily.GEMMA2,
          Map.of("ffn_norm", "pre_feedforward_layernorm"),
          HuggingFaceFamily.GEMMA3_TEXT,
          Map.of("ffn_norm", "pre_feedforward_layernorm"),
          HuggingFaceFamily.MIXTRAL,
          Map.of("ffn_gate_inp", "block_sparse_moe.gate"),
          HuggingFaceFamily.GPT_OSS,
          Map.of("ffn_gate_inp", "mlp.router"),
          HuggingFaceFamily.QWEN2_MOE,
          Map.of(
              "ffn_gate_shexp", "mlp.shared_expert.gate_proj",
              "ffn_up_shexp", "mlp.shared_expert.up_proj",
              "ffn_down_shexp", "mlp.shared_expert.down_proj"));

  private static final String STACK = "mlp.experts.";

  private final ModelConfig config;
  private final HuggingFaceFamily family;
  private final Predicate<String> stored;
  private final Map<String, String> own;

  private HuggingFaceNames(ModelConfig config, HuggingFaceFamily family, Predicate<String> stored) {
    this.stored = stored;
    this.config = config;
    this.family = family;
    own = OWN.getOrDefault(family, Map.of());
  }

  /**
   * Returns the part of the checkpoint for each tensor of the graph, by canonical name.
   *
   * @param stored tells whether the checkpoint has a tensor, because experts may be stored in
   *     several ways
   */
  static Map<String, StoredPart> of(
      ModelConfig config, HuggingFaceFamily family, Predicate<String> stored) {
    HuggingFaceNames names = new HuggingFaceNames(config, family, stored);
    Map<String, StoredPart> places = new HashMap<>();
    GraphTensors.of(config).forEach((name, shape) -> places.put(name, names.place(name, shape)));
    return places;
  }

  private StoredPart place(String canonical, GraphTensors.Shape shape) {
    int end = canonical.lastIndexOf('.');
    String suffix = canonical.substring(end);
    if (!canonical.startsWith("blk.")) {
      return whole(ROOT.get(canonical.substring(0, end)) + suffix, shape);
    }
    int after = canonical.indexOf('.', 4);
    Layer layer = config.layer(Integer.parseInt(canonical.substring(4, after)));
    String prefix = "model.layers." + canonical.substring(4, after) + ".";
    String part = canonical.substring(after + 1, end);
    int number = part.indexOf('.');
    if (number > 0) {
      int index = Integer.parseInt(part.substring(number + 1));
      String kind = part.substring(0, number);
      return layer.attention() instanceof Latent latent && kind.startsWith("attn")
          ? head(prefix, latent, kind, index)
          : expert(prefix, (Experts) layer.feedForward(), kind, index, suffix, shape);
    }
    return switch (part) {
      case "exp_probs_b" -> whole(prefix + "mlp.gate.e_score_correction_bias", shape);
      case "attn_sinks" -> whole(prefix + "self_attn.sinks", shape);
      default -> block(prefix, layer, part, suffix, shape);
    };
  }

  private StoredPart whole(String name, GraphTensors.Shape shape) {
    StoredPart part = StoredPart.whole(name, shape.rows(), shape.columns(), shape.vector());
    boolean lessOne = family.gemma() && shape.vector() && name.endsWith("norm.weight");
    return lessOne ? new StoredPart(name, part.shape(), 1, part.columns(), part.place(), 1) : part;
  }

  private StoredPart block(
      String prefix, Layer layer, String part, String suffix, GraphTensors.Shape shape) {
    boolean fusesMlp = family.is(HuggingFaceFamily.PHI3, HuggingFaceFamily.GLM4);
    if (fusesMlp && (part.equals("ffn_gate") || part.equals("ffn_up"))) {
      int width = ((Dense) layer.feedForward()).width();
      StoredPart whole = whole(prefix + "mlp.gate_up_proj" + suffix, shape);
      return StoredPart.ofMore(whole, part.equals("ffn_gate") ? 0 : width, 2L * width);
    }
    if (family == HuggingFaceFamily.PHI3 && part.matches("attn_[qkv]")) {
      Grouped attention = (Grouped) layer.attention();
      long queries = (long) attention.heads() * attention.headDim();
      long keys = (long) attention.kvHeads() * attention.headDim();
      long first = part.equals("attn_q") ? 0 : part.equals("attn_k") ? queries : queries + keys;
      StoredPart whole = whole(prefix + "self_attn.qkv_proj" + suffix, shape);
      return StoredPart.ofMore(whole, first, queries + 2 * keys);
    }
    String usual = prefix + BLOCK.get(part) + suffix;
    String other = prefix + own.getOrDefault(part, BLOCK.get(part)) + suffix;
    boolean renamed = family == HuggingFaceFamily.MIXTRAL && stored.test(usual);
    return whole(renamed ? usual : other, shape);
  }

  /**
   * The part of one head in {@code kv_b_proj}: rows of the key's unrotated part, then rows of the
   * value.
   */
  private StoredPart head(String prefix, Latent attention, String kind, int head) {
    int rank = attention.kvRank();
    long rows = attention.plainDim() + attention.valueDim();
    long[] shape = {attention.heads() * rows, rank};
    String name = prefix + "self_attn.kv_b_proj.weight";
    long first = head * rows * rank;
    if (kind.equals("attn_k_b")) {
      return new StoredPart(name, shape, rank, attention.plainDim(), new Place(first, 1, rank), 0);
    }
    long values = first + (long) attention.plainDim() * rank;
    return new StoredPart(name, shape, attention.valueDim(), rank, new Place(values, rank, 1), 0);
  }

  private StoredPart expert(
      String prefix,
      Experts experts,
      String kind,
      int expert,
      String suffix,
      GraphTensors.Shape shape) {
    if (family == HuggingFaceFamily.GPT_OSS) {
      return turningExpert(prefix, experts, kind, expert, suffix.equals(".bias"));
    }
    if (stored.test(prefix + STACK + "gate_up_proj")) {
      return stackedExpert(prefix, experts, kind, expert, shape);
    }
    if (family == HuggingFaceFamily.MIXTRAL) {
      String number = kind.equals("ffn_gate") ? "w1" : kind.equals("ffn_down") ? "w2" : "w3";
      return whole(prefix + "block_sparse_moe.experts." + expert + "." + number + suffix, shape);
    }
    String projection = BLOCK.get(kind).substring("mlp.".length());
    return whole(prefix + "mlp.experts." + expert + "." + projection + suffix, shape);
  }

  /** All experts in one tensor, [expert, out, in], as in transformers 5, with gate before up. */
  private StoredPart stackedExpert(
      String prefix, Experts experts, String kind, int expert, GraphTensors.Shape shape) {
    boolean down = kind.equals("ffn_down");
    long rows = (down ? 1L : 2L) * shape.rows();
    long[] sizes = {experts.count(), rows, shape.columns()};
    long first = expert * rows + (kind.equals("ffn_up") ? shape.rows() : 0);
    Place place = new Place(first * shape.columns(), shape.columns(), 1);
    String name = prefix + STACK + (down ? "down_proj" : "gate_up_proj");
    return new StoredPart(name, sizes, shape.rows(), shape.columns(), place, 0);
  }

  /** All experts of gpt_oss, [expert, in, out], with alternating columns of gate and up. */
  private StoredPart turningExpert(
      String prefix, Experts experts, String kind, int expert, boolean bias) {
    int hidden = config.hiddenSize();
    int width = experts.expert().width();
    boolean down = kind.equals("ffn_down");
    int in = down ? width : hidden;
    int out = down ? hidden : width;
    int turns = down ? 1 : 2;
    long row = (long) turns * out;
    long first = kind.equals("ffn_up") ? 1 : 0;
    String name = prefix + STACK + (down ? "down_proj" : "gate_up_proj");
    if (bias) {
      long[] shape = {experts.count(), row};
      return new StoredPart(
          name + "_bias", shape, 1, out, new Place(expert * row + first, row, turns), 0);
    }
    if (stored.test(name + "_blocks")) {
      long[] shape = {experts.count(), row, in / 32, 16};
      return new StoredPart(name + "_blocks", shape, out, in, new Place(first, turns, expert), 0);
    }
    long[] shape = {experts.count(), in, row};
    return new StoredPart(
        name, shape, out, in, new Place(expert * in * row + first, turns, row), 0);
  }
}
