package io.radixflow.models;

import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import java.util.Collections;
import java.util.List;

/**
 * The shape of a decoder-only transformer. The differences between architectures are data here,
 * layer by layer, so one forward graph is enough for all of them.
 *
 * @param architecture name of the architecture in the model's file, or {@code sim}
 * @param name display name
 * @param vocabSize rows of the embedding
 * @param contextLength positions that the model was trained for
 * @param hiddenSize width of the residual stream
 * @param blocks the decoder blocks
 * @param tiedEmbedding whether the output projection is the token embedding
 */
public record ModelConfig(
    String architecture,
    String name,
    int vocabSize,
    int contextLength,
    int hiddenSize,
    Norm norm,
    Scales scales,
    List<Layer> blocks,
    boolean tiedEmbedding) {

  public ModelConfig {
    blocks = List.copyOf(blocks);
  }

  /**
   * The norms of a model, which have no bias.
   *
   * @param centred whether the mean is subtracted (LayerNorm); false for RMS norm
   * @param epsilon added to the mean of squares
   * @param latentEpsilon epsilon of the norms of compressed queries, keys and values
   */
  public record Norm(boolean centred, float epsilon, float latentEpsilon) {

    /** RMS norm (Zhang and Sennrich 2019). */
    public static Norm rms(float epsilon) {
      return new Norm(false, epsilon, epsilon);
    }
  }

  /**
   * Factors that apply to the whole model.
   *
   * @param embedding factor of the token embedding
   * @param residual factor of each block's output before it is added to the residual stream
   * @param logits factor of the logits
   * @param logitCap bound c of the logits, {@code c · tanh(x / c)}; 0 for none
   */
  public record Scales(float embedding, float residual, float logits, float logitCap) {

    /** No factors and no bound. */
    public static final Scales NONE = new Scales(1, 1, 1, 0);
  }

  /**
   * Creates a model whose layers are all equal, like llama, qwen2 (with biases) and qwen3 (with
   * norms).
   */
  public static ModelConfig uniform(
      String architecture,
      String name,
      int vocabSize,
      int contextLength,
      int layers,
      int hiddenSize,
      int intermediateSize,
      int heads,
      int kvHeads,
      int headDim,
      float normEpsilon,
      Rope rope,
      boolean qkvBias,
      boolean qkNorm,
      boolean tiedEmbedding) {
    Attention attention =
        new Attention.Grouped(
            heads,
            kvHeads,
            headDim,
            rope,
            qkvBias,
            false,
            qkNorm ? QkNorm.HEAD : QkNorm.NONE,
            0,
            Attention.Scores.of(headDim));
    Layer layer = new Layer(attention, Dense.silu(intermediateSize), Layer.Norms.BEFORE);
    return new ModelConfig(
        architecture,
        name,
        vocabSize,
        contextLength,
        hiddenSize,
        Norm.rms(normEpsilon),
        Scales.NONE,
        Collections.nCopies(layers, layer),
        tiedEmbedding);
  }

  /** Number of decoder blocks. */
  public int layers() {
    return blocks.size();
  }

  /** One decoder block. */
  public Layer layer(int index) {
    return blocks.get(index);
  }

  /** Query heads of the first layer. */
  public int heads() {
    return layer(0).attention().heads();
  }

  /** Key and value heads of the first layer. */
  public int kvHeads() {
    return layer(0).attention().kvHeads();
  }

  /** Elements of a key of the first layer. */
  public int headDim() {
    return layer(0).attention().keyWidth();
  }

  /** Rotary embedding of the first layer. */
  public Rope rope() {
    return layer(0).attention().rope();
  }

  public float normEpsilon() {
    return norm.epsilon();
  }

  /** Returns whether q, k and v of the first layer have a bias. */
  public boolean qkvBias() {
    return layer(0).attention() instanceof Attention.Grouped grouped && grouped.qkvBias();
  }

  /** Returns whether each query and key head of the first layer is normalised. */
  public boolean qkNorm() {
    return layer(0).attention() instanceof Attention.Grouped grouped
        && grouped.qkNorm() == QkNorm.HEAD;
  }

  /** Width of the widest MLP that every token uses. */
  public int intermediateSize() {
    int widest = 0;
    for (Layer layer : blocks) {
      int width =
          layer.feedForward() instanceof Experts experts
              ? experts.sharedWidth()
              : ((Dense) layer.feedForward()).width();
      widest = Math.max(widest, width);
    }
    return widest;
  }

  public ModelConfig withBlocks(List<Layer> others) {
    return new ModelConfig(
        architecture,
        name,
        vocabSize,
        contextLength,
        hiddenSize,
        norm,
        scales,
        others,
        tiedEmbedding);
  }
}
