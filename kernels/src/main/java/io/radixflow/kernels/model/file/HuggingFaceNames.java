package io.radixflow.kernels.model.file;

import java.util.Map;

/** Tensor names of the transformers library for canonical (GGUF) ones. */
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
          Map.entry("ffn_norm", "post_attention_layernorm"),
          Map.entry("ffn_gate", "mlp.gate_proj"),
          Map.entry("ffn_up", "mlp.up_proj"),
          Map.entry("ffn_down", "mlp.down_proj"));

  private HuggingFaceNames() {}

  /** The name in a checkpoint of a canonical name that the graph uses. */
  static String of(String canonical) {
    int kind = canonical.lastIndexOf('.');
    String suffix = canonical.substring(kind);
    if (!canonical.startsWith("blk.")) {
      return ROOT.get(canonical.substring(0, kind)) + suffix;
    }
    int layer = canonical.indexOf('.', 4);
    String part = BLOCK.get(canonical.substring(layer + 1, kind));
    return "model.layers." + canonical.substring(4, layer) + "." + part + suffix;
  }
}
