package io.radixflow.models;

/** How the tokens of one layer see each other: causally, over keys and values in the KV pool. */
public sealed interface Attention {

  /** Query heads. */
  int heads();

  /** Rotary embedding; null for none. */
  Rope rope();

  /** Factor of the products of queries and keys. */
  float scale();

  /** Tokens that a query sees, including its own token; 0 for all. */
  int window();

  /** Heads of the KV pool. */
  int kvHeads();

  /** Elements of a key in the pool. */
  int keyWidth();

  /** Elements of a value in the pool; 0 where values are the beginning of the keys. */
  int valueWidth();

  /** The norm of queries and keys before they are rotated. */
  enum QkNorm {
    NONE,
    /** Each head by itself, with one gain for all heads. */
    HEAD,
    /** All heads of a token together. */
    ALL_HEADS
  }

  /**
   * A factor of the queries that grows with the position p: 1 + beta · ln(1 + ⌊p / context⌋).
   *
   * @param beta weight of the logarithm
   * @param context positions with the same factor
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
   * @param scale their factor
   * @param softCap bound c of {@code c · tanh(x / c)}; 0 for none
   * @param sinks whether each head has a weight that takes part in the softmax and has no value
   * @param growth a factor of the queries by position; null for none
   */
  record Scores(float scale, float softCap, boolean sinks, QueryGrowth growth) {

    /** The usual scale, one over the root of the head's width, and nothing else. */
    public static Scores of(int headDim) {
      return new Scores((float) (1 / Math.sqrt(headDim)), 0, false, null);
    }
  }

  /**
   * Query heads that share key and value heads in groups.
   *
   * @param heads query heads
   * @param kvHeads key and value heads; divides {@code heads}
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

    /** The same with another rotary embedding. */
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
   * @param heads query heads
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
