package io.radixflow.kernels.model;

/** The buffers of the forward pass, one row a token; a backend allocates and lays them out. */
public enum Activation {
  /** The residual stream: hidden size. */
  HIDDEN,
  /** A normalised copy of the residual stream: hidden size. */
  NORMED,
  /** Queries of all heads, then keys, then values of all KV heads. */
  QKV,
  /** Attention output of all heads: heads × head dimension. */
  ATTENDED,
  /** Gate projection, then up projection: twice the intermediate size. */
  GATE_UP,
  /** silu(gate) · up: intermediate size. */
  GATED,
  /** The addition of a block to the residual stream: hidden size. */
  DELTA;

  /** Elements a row for a model of this shape. */
  public int width(ModelConfig config) {
    return switch (this) {
      case HIDDEN, NORMED, DELTA -> config.hiddenSize();
      case QKV -> (config.heads() + 2 * config.kvHeads()) * config.headDim();
      case ATTENDED -> config.heads() * config.headDim();
      case GATE_UP -> 2 * config.intermediateSize();
      case GATED -> config.intermediateSize();
    };
  }
}
