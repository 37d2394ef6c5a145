package io.radixflow.models;

import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ForwardOps.ExpertWeights;
import java.util.ArrayList;
import java.util.List;

/**
 * The forward pass of decoder-only transformers, written once. Architectures differ only in their
 * configuration.
 *
 * <p>Owns the device's handles of the weights; immutable after construction.
 *
 * @param <M> a weight matrix on the device
 * @param <V> a weight vector on the device
 */
public final class ForwardGraph<M, V> {

  /** One decoder block. Norms that it does not have are null. */
  private record Block<M, V>(
      Layer shape,
      V attentionNorm,
      GroupedWeights<M, V> grouped,
      LatentWeights<M, V> latent,
      M attentionOutput,
      V attentionOutputNorm,
      V feedForwardNorm,
      Mlp<M> mlp,
      Mixture<M, V> mixture,
      V feedForwardOutputNorm) {}

  private record GroupedWeights<M, V>(M qkv, V queryNorm, V keyNorm, V sinks) {}

  /** Latent attention; {@code queryDown} and its norm are null if queries are not compressed. */
  private record LatentWeights<M, V>(
      M queryDown, V queryNorm, M query, M keyValueDown, V norm, List<M> keys, List<M> values) {}

  private record Mlp<M>(M gateUp, M down) {}

  private record Mixture<M, V>(
      M router, ExpertWeights<M, V> experts, Mlp<M> shared, M sharedGate) {}

  private final M embedding;
  private final List<Block<M, V>> blocks = new ArrayList<>();
  private final V outputNorm;
  private final M head;

  /** Loads all weights of the model through {@code loader}. Takes seconds. */
  public ForwardGraph(ModelConfig config, WeightLoader<M, V> loader) {
    BlockLoader<M, V> weights = new BlockLoader<>(loader);
    embedding = weights.matrix("token_embd", false);
    for (int layer = 0; layer < config.layers(); layer++) {
      blocks.add(weights.block(config.layer(layer), "blk." + layer + "."));
    }
    outputNorm = loader.vector("output_norm.weight");
    head = config.tiedEmbedding() ? embedding : weights.matrix("output", false);
  }

  public void run(ForwardOps<M, V> ops) {
    ops.embed(embedding);
    for (int layer = 0; layer < blocks.size(); layer++) {
      Block<M, V> block = blocks.get(layer);
      StepBuffer source = normed(ops, block.attentionNorm, StepBuffer.HIDDEN);
      if (block.grouped != null) {
        attend(ops, layer, block.grouped, source);
      } else {
        attend(ops, layer, block.latent, source);
      }
      ops.matmul(block.attentionOutput, StepBuffer.ATTENDED, StepBuffer.DELTA);
      add(ops, block.attentionOutputNorm);
      if (block.shape.norms() != Layer.Norms.PARALLEL) {
        source = normed(ops, block.feedForwardNorm, StepBuffer.HIDDEN);
      }
      if (block.mlp != null) {
        mlp(ops, (Dense) block.shape.feedForward(), block.mlp, source, StepBuffer.DELTA);
      } else {
        mixture(ops, layer, block, source);
      }
      add(ops, block.feedForwardOutputNorm);
    }
    ops.outputs(outputNorm, head);
  }

  /** Normalises a copy of {@code source} if there is a norm. Returns the buffer to read next. */
  private StepBuffer normed(ForwardOps<M, V> ops, V norm, StepBuffer source) {
    if (norm == null) {
      return source;
    }
    ops.norm(source, norm, StepBuffer.NORMED);
    return StepBuffer.NORMED;
  }

  private void add(ForwardOps<M, V> ops, V norm) {
    if (norm != null) {
      ops.norm(StepBuffer.DELTA, norm, StepBuffer.DELTA);
    }
    ops.addResidual();
  }

  private void attend(
      ForwardOps<M, V> ops, int layer, GroupedWeights<M, V> weights, StepBuffer source) {
    ops.matmul(weights.qkv, source, StepBuffer.QKV);
    ops.ropeAndStore(layer, weights.queryNorm, weights.keyNorm);
    ops.attend(layer, weights.sinks);
  }

  private void attend(
      ForwardOps<M, V> ops, int layer, LatentWeights<M, V> weights, StepBuffer source) {
    if (weights.queryDown == null) {
      ops.matmul(weights.query, source, StepBuffer.QKV);
    } else {
      ops.matmul(weights.queryDown, source, StepBuffer.LOW_RANK_QUERY);
      ops.norm(StepBuffer.LOW_RANK_QUERY, weights.queryNorm, StepBuffer.LOW_RANK_QUERY);
      ops.matmul(weights.query, StepBuffer.LOW_RANK_QUERY, StepBuffer.QKV);
    }
    ops.matmul(weights.keyValueDown, source, StepBuffer.LATENT);
    ops.ropeAndStoreLatent(layer, weights.norm);
    ops.compressQueries(layer, weights.keys);
    ops.attend(layer, null);
    ops.expandValues(layer, weights.values);
  }

  private void mlp(
      ForwardOps<M, V> ops, Dense shape, Mlp<M> mlp, StepBuffer source, StepBuffer target) {
    ops.matmul(mlp.gateUp, source, StepBuffer.GATE_UP);
    ops.gate(shape);
    ops.matmul(mlp.down, StepBuffer.GATED, target);
  }

  private void mixture(ForwardOps<M, V> ops, int layer, Block<M, V> block, StepBuffer source) {
    Experts shape = (Experts) block.shape.feedForward();
    Mixture<M, V> weights = block.mixture;
    ops.matmul(weights.router, source, StepBuffer.ROUTER);
    ops.experts(layer, weights.experts, source);
    if (weights.shared == null) {
      return;
    }
    mlp(ops, shape.shared(), weights.shared, source, StepBuffer.SHARED);
    if (weights.sharedGate != null) {
      ops.matmul(weights.sharedGate, source, StepBuffer.SHARED_GATE);
    }
    ops.addShared(weights.sharedGate != null);
  }

  /** Loads the weights of decoder blocks by their canonical names. */
  private record BlockLoader<M, V>(WeightLoader<M, V> loader) {
    Block<M, V> block(Layer layer, String prefix) {
      Layer.Norms norms = layer.norms();
      V attentionNorm = norm(prefix + "attn_norm", norms.beforeAttention());
      GroupedWeights<M, V> grouped = null;
      LatentWeights<M, V> latent = null;
      boolean outputBias;
      if (layer.attention() instanceof Grouped shape) {
        grouped = grouped(shape, prefix);
        outputBias = shape.outputBias();
      } else {
        Latent shape = (Latent) layer.attention();
        latent = latent(shape, prefix);
        outputBias = shape.bias();
      }
      return new Block<>(
          layer,
          attentionNorm,
          grouped,
          latent,
          matrix(prefix + "attn_output", outputBias),
          norm(prefix + "post_attention_norm", norms.after()),
          norm(prefix + "ffn_norm", norms.beforeFeedForward()),
          layer.feedForward() instanceof Dense dense ? mlp(prefix, "", dense.bias()) : null,
          layer.feedForward() instanceof Experts experts ? mixture(experts, prefix) : null,
          norm(prefix + "post_ffw_norm", norms.after()));
    }

    private GroupedWeights<M, V> grouped(Grouped shape, String prefix) {
      boolean norms = shape.qkNorm() != QkNorm.NONE;
      return new GroupedWeights<>(
          stacked(shape.qkvBias(), prefix + "attn_q", prefix + "attn_k", prefix + "attn_v"),
          norm(prefix + "attn_q_norm", norms),
          norm(prefix + "attn_k_norm", norms),
          norm(prefix + "attn_sinks", shape.scores().sinks()));
    }

    private LatentWeights<M, V> latent(Latent shape, String prefix) {
      boolean compressed = shape.queryRank() > 0;
      return new LatentWeights<>(
          compressed ? matrix(prefix + "attn_q_a", shape.bias()) : null,
          norm(prefix + "attn_q_a_norm", compressed),
          matrix(prefix + (compressed ? "attn_q_b" : "attn_q"), false),
          matrix(prefix + "attn_kv_a_mqa", shape.bias()),
          norm(prefix + "attn_kv_a_norm", true),
          numbered(shape.heads(), false, prefix + "attn_k_b"),
          numbered(shape.heads(), false, prefix + "attn_v_b"));
    }

    private Mlp<M> mlp(String prefix, String suffix, boolean bias) {
      return new Mlp<>(
          stacked(bias, prefix + "ffn_gate" + suffix, prefix + "ffn_up" + suffix),
          matrix(prefix + "ffn_down" + suffix, bias));
    }

    private Mixture<M, V> mixture(Experts shape, String prefix) {
      boolean bias = shape.expert().bias();
      V correction =
          shape.router().correction() ? loader.vector(prefix + "exp_probs_b.bias") : null;
      return new Mixture<>(
          matrix(prefix + "ffn_gate_inp", shape.router().bias()),
          new ExpertWeights<>(
              numbered(shape.count(), bias, prefix + "ffn_gate", prefix + "ffn_up"),
              numbered(shape.count(), bias, prefix + "ffn_down"),
              correction),
          shape.sharedWidth() > 0 ? mlp(prefix, "_shexp", false) : null,
          shape.sharedGated() ? matrix(prefix + "ffn_gate_inp_shexp", false) : null);
    }

    M matrix(String name, boolean bias) {
      return stacked(bias, name);
    }

    private M stacked(boolean bias, String... names) {
      return loader.matrix(ending(".weight", names), bias ? ending(".bias", names) : List.of());
    }

    /** Loads matrices 0 to {@code count - 1}. Each is stacked from the tensors with its number. */
    private List<M> numbered(int count, boolean bias, String... names) {
      List<List<String>> weights = new ArrayList<>();
      List<List<String>> biases = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        weights.add(ending("." + i + ".weight", names));
        biases.add(bias ? ending("." + i + ".bias", names) : List.of());
      }
      return loader.matrices(weights, biases);
    }

    private static List<String> ending(String end, String... names) {
      List<String> whole = new ArrayList<>();
      for (String name : names) {
        whole.add(name + end);
      }
      return whole;
    }

    private V norm(String name, boolean present) {
      return present ? loader.vector(name + ".weight") : null;
    }
  }
}
