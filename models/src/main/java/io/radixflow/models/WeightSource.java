package io.radixflow.models;

import java.util.List;

/**
 * The weights of a model, by canonical GGUF tensor names, whatever names the file uses: {@code
 * token_embd.weight}, {@code output.weight} (absent if tied), {@code output_norm.weight}, {@code
 * blk.N.} + {@code attn_norm, attn_q, attn_k, attn_v, attn_output, attn_q_norm, attn_k_norm,
 * ffn_norm, ffn_gate, ffn_up, ffn_down} + {@code .weight} or {@code .bias}; {@link GraphTensors}
 * has the other names, such as {@code ffn_gate.E} for an expert. Every tensor that the
 * configuration needs exists and has the right shape; this was checked when the source was opened.
 */
public interface WeightSource extends AutoCloseable {

  /** The model's shape. */
  ModelConfig config();

  /** Returns a tensor. Throws {@link ModelFormatException} if it does not exist. */
  Tensor tensor(String name);

  /** Returns the tensors with these names, in the same order. */
  default List<Tensor> tensors(List<String> names) {
    return names.stream().map(this::tensor).toList();
  }

  /**
   * Returns 16 lower-case hexadecimal digits that identify the weights' content and encoding. The
   * first call reads all files and stores the result in Radixflow's home directory.
   */
  String fingerprint();

  /** Closes the files. Tensors cannot be read afterwards. */
  @Override
  void close();
}
