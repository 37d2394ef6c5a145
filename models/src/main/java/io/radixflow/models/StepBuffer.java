package io.radixflow.models;

import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.FeedForward.Experts;

/**
 * A buffer of the forward pass, with one row per token. A backend allocates the buffers and chooses
 * their layout.
 */
public enum StepBuffer {
  /** The residual stream: hidden size. */
  HIDDEN,
  /** A normalised copy of the residual stream: hidden size. */
  NORMED,
  /** Queries of all heads. If keys are not compressed, keys and values of all KV heads follow. */
  QKV,
  /** Attention output of all heads. */
  ATTENDED,
  /** Gate projection, then up projection: twice the intermediate size. */
  GATE_UP,
  /** The gated up projection: intermediate size. */
  GATED,
  /** The addition of a block to the residual stream: hidden size. */
  DELTA,
  /** Compressed queries. */
  LOW_RANK_QUERY,
  /** Compressed keys and values, then the rotated part of the key. */
  LATENT,
  /** Queries of all heads in the space of the compressed keys, each with its rotated part. */
  LATENT_QUERY,
  /** Attention output of all heads in the space of the compressed values. */
  LATENT_ATTENDED,
  /** Logits of the experts. */
  ROUTER,
  /** Output of the shared expert: hidden size. */
  SHARED,
  /** The logit that weights {@link #SHARED}. */
  SHARED_GATE;

  /**
   * Elements per row for a model of this shape: the most that a layer needs; 0 if the buffer is not
   * used.
   */
  public int width(ModelConfig config) {
    int widest = 0;
    for (Layer layer : config.blocks()) {
      widest = Math.max(widest, width(config, layer));
    }
    return widest;
  }

  private int width(ModelConfig config, Layer layer) {
    return switch (this) {
      case HIDDEN, NORMED, DELTA -> config.hiddenSize();
      case GATE_UP -> 2 * config.intermediateSize();
      case GATED -> config.intermediateSize();
      case QKV, ATTENDED, LOW_RANK_QUERY, LATENT, LATENT_QUERY, LATENT_ATTENDED ->
          layer.attention() instanceof Grouped grouped
              ? width(grouped)
              : width((Latent) layer.attention());
      case ROUTER, SHARED, SHARED_GATE ->
          layer.feedForward() instanceof Experts experts ? width(config, experts) : 0;
    };
  }

  private int width(Grouped attention) {
    return switch (this) {
      case QKV -> (attention.heads() + 2 * attention.kvHeads()) * attention.headDim();
      case ATTENDED -> attention.heads() * attention.headDim();
      default -> 0;
    };
  }

  private int width(Latent attention) {
    return switch (this) {
      case QKV -> attention.heads() * attention.queryDim();
      case ATTENDED -> attention.heads() * attention.valueDim();
      case LOW_RANK_QUERY -> attention.queryRank();
      case LATENT -> attention.keyWidth();
      case LATENT_QUERY -> attention.heads() * attention.keyWidth();
      case LATENT_ATTENDED -> attention.heads() * attention.kvRank();
      default -> 0;
    };
  }

  private int width(ModelConfig config, Experts experts) {
    return switch (this) {
      case ROUTER -> experts.count();
      case SHARED -> experts.sharedWidth() > 0 ? config.hiddenSize() : 0;
      default -> experts.sharedGated() ? 1 : 0;
    };
  }
}
