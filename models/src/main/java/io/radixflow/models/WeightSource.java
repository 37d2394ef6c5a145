package io.radixflow.models;

import java.util.List;

/**
 * The weights of a model, by canonical GGUF tensor names whatever the file's own are: {@code
 * token_embd.weight}, {@code output.weight} (absent if tied), {@code output_norm.weight}, {@code
 * blk.N.} + {@code attn_norm, attn_q, attn_k, attn_v, attn_output, attn_q_norm, attn_k_norm,
 * ffn_norm, ffn_gate, ffn_up, ffn_down} + {@code .weight} or {@code .bias}; {@link GraphTensors}
 * has the others, such as {@code ffn_gate.E} of an expert. Every tensor that the configuration
 * needs is present with the right shape: checked when the source was opened.
 */
public interface WeightSource extends AutoCloseable {

  /** The model's shape. */
  ModelConfig config();

  /** A tensor; throws {@link ModelFormatException} if it does not exist. */
  Tensor tensor(String name);

  /** The tensors of some names, in their order. */
  default List<Tensor> tensors(List<String> names) {
    return names.stream().map(this::tensor).toList();
  }

  /**
   * Returns 16 lower-case hexadecimal digits that identify the weights' content and encoding. Reads
   * all of the files the first time, and stores the result in Radixflow's home directory.
   */
  String fingerprint();

  /** Closes the files: no tensor can be got or read afterwards. */
  @Override
  void close();
}
