package io.radixflow.kernels.model;

/**
 * The shape of a decoder-only transformer of the llama family; one forward graph serves them all.
 *
 * @param architecture {@code llama}, {@code qwen2}, {@code qwen3} or {@code sim}
 * @param name a name for people
 * @param vocabSize rows of the embedding
 * @param contextLength positions that the model was trained for
 * @param layers decoder blocks
 * @param hiddenSize width of the residual stream
 * @param intermediateSize width of the gated MLP
 * @param heads query heads
 * @param kvHeads key and value heads; divides {@code heads}
 * @param headDim elements a head
 * @param normEpsilon epsilon of RMS norm
 * @param rope rotary embedding
 * @param qkvBias whether q, k and v have a bias (qwen2)
 * @param qkNorm whether q and k are RMS-normalised a head (qwen3)
 * @param tiedEmbedding whether the output projection is the token embedding
 */
public record ModelConfig(
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

  /**
   * Rotary position embedding (Su et al. 2021).
   *
   * @param base theta
   * @param interleaved pairs are (2i, 2i+1), as GGUF stores llama weights; false for (i, i+d/2)
   * @param scaling Llama 3 frequency scaling, or null
   */
  public record Rope(double base, boolean interleaved, Llama3Scaling scaling) {}

  /**
   * Frequency scaling of Llama 3.1 ({@code rope_type: llama3}).
   *
   * @param factor divisor of the low frequencies
   * @param lowFrequencyFactor wavelengths above {@code originalContext / this} are divided
   * @param highFrequencyFactor wavelengths below {@code originalContext / this} are kept
   * @param originalContext context length before scaling
   */
  public record Llama3Scaling(
      double factor, double lowFrequencyFactor, double highFrequencyFactor, int originalContext) {}
}
