package io.radixflow.models;

/**
 * How the tokens of one layer attend to each other: causally, over keys and values in the KV pool.
 */
public sealed interface Attention {

  /** Number of query heads. */
  int heads();

  /** Rotary embedding; null for none. */
  Rope rope();

  /** The factor of the products of queries and keys. */
  float scale();

  /** Number of tokens that a query sees, including its own token; 0 for all. */
  int window();

  /** Number of heads in the KV pool. */
  int kvHeads();

  /** Elements of a key in the pool. */
  int keyWidth();

  /** Elements of a value in the pool; 0 if values are the beginning of the keys. */
  int valueWidth();

  /** The norm of queries and keys before they are rotated. */
  enum QkNorm {
    NONE,
    /** Each head is normalised separately; all heads have the same gain. */
    HEAD,
    /** All heads of a token are normalised together. */
    ALL_HEADS
  }

  /**
   * A factor of the queries that grows with the position p: 1 + beta · ln(1 + ⌊p / context⌋).
   *
   * @param beta weight of the logarithm
   * @param context number of positions with the same factor
   */
  record QueryGrowth(double beta, int context) {

    /** The factor at a position. */
    public float at(int position) {
      return (float) (1 + beta * StrictMath.log(1 + position / context));
    }
  }

  /**
   * The operations on the products of queries and keys before the softmax.
   *
   * @param scale factor of the products
   * @param softCap bound c of {@code c · tanh(x / c)}; 0 for none
   * @param sinks whether each head has a weight that is part of the softmax but has no value
   * @param growth how a factor of the queries grows with the position; null for none
   */
  record Scores(float scale, float softCap, boolean sinks, QueryGrowth growth) {

    /** The usual scale: one over the square root of the head's width. Nothing else is set. */
    public static Scores of(int headDim) {
      return new Scores((float) (1 / Math.sqrt(headDim)), 0, false, null);
    }
  }

  /**
   * Query heads that share key and value heads in groups.
   *
   * @param heads number of query heads
   * @param kvHeads number of key and value heads; divides {@code heads}
   * @param headDim elements per head
   * @param qkvBias whether q, k and v have a bias
   * @param outputBias whether the output projection has a bias
   */
  record Grouped(
      int heads,
      int kvHeads,
      int headDim,
      Rope rope,
      boolean qkvBias,
      boolean outputBias,
      QkNorm qkNorm,
      int window,
      Scores scores)
      implements Attention {

    /** Returns the same attention with another rotary embedding. */
    public Grouped withRope(Rope other) {
      return new Grouped(
          heads, kvHeads, headDim, other, qkvBias, outputBias, qkNorm, window, scores);
    }

    @Override
    public float scale() {
      return scores.scale();
    }

    @Override
    public int keyWidth() {
      return headDim;
    }

    @Override
    public int valueWidth() {
      return headDim;
    }
  }

  /**
   * Multi-head latent attention (DeepSeek-AI 2024) in its absorbed form: queries are transformed
   * into the space of the compressed keys. So the pool contains one compressed vector and one
   * rotated part per token, for all heads.
   *
   * @param heads number of query heads
   * @param queryRank width of the compressed queries; 0 if they are not compressed
   * @param kvRank width of the compressed keys and values
   * @param plainDim elements of a query head that are not rotated
   * @param rotatedDim elements of a query head that are rotated
   * @param valueDim elements of a head's value
   * @param bias whether compressions and the output projection have a bias
   */
  record Latent(
      int heads,
      int queryRank,
      int kvRank,
      int plainDim,
      int rotatedDim,
      int valueDim,
      Rope rope,
      boolean bias,
      float scale)
      implements Attention {

    /** Elements of a query head. */
    public int queryDim() {
      return plainDim + rotatedDim;
    }

    @Override
    public int window() {
      return 0;
    }

    @Override
    public int kvHeads() {
      return 1;
    }

    @Override
    public int keyWidth() {
      return kvRank + rotatedDim;
    }

    @Override
    public int valueWidth() {
      return 0;
    }
  }
}
