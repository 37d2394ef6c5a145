package io.radixflow.kernels.model;

import java.util.ArrayList;
import java.util.List;

/**
 * The forward pass of the llama family, written once: llama, qwen2 (bias on q, k, v) and qwen3 (a
 * norm on each query and key head) differ in their configuration only.
 *
 * <p>Owns the device's handles of the weights; immutable after construction.
 *
 * @param <M> a weight matrix on the device
 * @param <V> a weight vector on the device
 */
public final class ForwardGraph<M, V> {

  private record Block<M, V>(
      V attentionNorm,
      M qkv,
      V queryNorm,
      V keyNorm,
      M attentionOutput,
      V feedForwardNorm,
      M gateUp,
      M down) {}

  private final M embedding;
  private final List<Block<M, V>> blocks = new ArrayList<>();
  private final V outputNorm;
  private final M head;

  /** Loads all weights of the model through {@code loader}; takes seconds. */
  public ForwardGraph(ModelConfig config, WeightLoader<M, V> loader) {
    embedding = loader.matrix(List.of("token_embd.weight"), List.of());
    for (int layer = 0; layer < config.layers(); layer++) {
      blocks.add(block(config, loader, "blk." + layer + "."));
    }
    outputNorm = loader.vector("output_norm.weight");
    head = config.tiedEmbedding() ? embedding : loader.matrix(List.of("output.weight"), List.of());
  }

  private static <M, V> Block<M, V> block(
      ModelConfig config, WeightLoader<M, V> loader, String prefix) {
    List<String> bias =
        config.qkvBias()
            ? List.of(prefix + "attn_q.bias", prefix + "attn_k.bias", prefix + "attn_v.bias")
            : List.of();
    return new Block<>(
        loader.vector(prefix + "attn_norm.weight"),
        loader.matrix(
            List.of(prefix + "attn_q.weight", prefix + "attn_k.weight", prefix + "attn_v.weight"),
            bias),
        config.qkNorm() ? loader.vector(prefix + "attn_q_norm.weight") : null,
        config.qkNorm() ? loader.vector(prefix + "attn_k_norm.weight") : null,
        loader.matrix(List.of(prefix + "attn_output.weight"), List.of()),
        loader.vector(prefix + "ffn_norm.weight"),
        loader.matrix(List.of(prefix + "ffn_gate.weight", prefix + "ffn_up.weight"), List.of()),
        loader.matrix(List.of(prefix + "ffn_down.weight"), List.of()));
  }

  /** Runs one step. */
  public void run(ForwardOps<M, V> ops) {
    ops.embed(embedding);
    for (int layer = 0; layer < blocks.size(); layer++) {
      Block<M, V> block = blocks.get(layer);
      ops.rmsNorm(Activation.HIDDEN, block.attentionNorm, Activation.NORMED);
      ops.matmul(block.qkv, Activation.NORMED, Activation.QKV);
      ops.ropeAndStore(layer, block.queryNorm, block.keyNorm);
      ops.attend(layer);
      ops.matmul(block.attentionOutput, Activation.ATTENDED, Activation.DELTA);
      ops.addResidual();
      ops.rmsNorm(Activation.HIDDEN, block.feedForwardNorm, Activation.NORMED);
      ops.matmul(block.gateUp, Activation.NORMED, Activation.GATE_UP);
      ops.swiglu();
      ops.matmul(block.down, Activation.GATED, Activation.DELTA);
      ops.addResidual();
    }
    ops.outputs(outputNorm, head);
  }
}
