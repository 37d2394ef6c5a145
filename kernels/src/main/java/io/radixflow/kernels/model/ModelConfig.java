package io.radixflow.kernels.model;

import java.util.List;

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

  /** The same model with a divisor for each pair's rotary frequency. */
  public ModelConfig withRopeDivisors(List<Float> divisors) {
    return new ModelConfig(
        architecture,
        name,
        vocabSize,
        contextLength,
        layers,
        hiddenSize,
        intermediateSize,
        heads,
        kvHeads,
        headDim,
        normEpsilon,
        new Rope(rope.base(), rope.interleaved(), rope.scaling(), divisors),
        qkvBias,
        qkNorm,
        tiedEmbedding);
  }

  /**
   * Rotary position embedding (Su et al. 2021).
   *
   * @param base theta
   * @param interleaved pairs are (2i, 2i+1), as GGUF stores llama weights; false for (i, i+d/2)
   * @param scaling Llama 3 frequency scaling, or null
   * @param frequencyDivisors a divisor for each pair's frequency, as GGUF's {@code
   *     rope_freqs.weight} has them; empty for none
   */
  public record Rope(
      double base, boolean interleaved, Llama3Scaling scaling, List<Float> frequencyDivisors) {

    public Rope {
      frequencyDivisors = List.copyOf(frequencyDivisors);
    }

    /** Without divisors. */
    public Rope(double base, boolean interleaved, Llama3Scaling scaling) {
      this(base, interleaved, scaling, List.of());
    }

    /**
     * The angle in radians by which each pair of a head turns per position: {@code base^(-2i/d)},
     * scaled. The same doubles on every machine.
     */
    public double[] frequencies(int headDim) {
      double[] frequencies = new double[headDim / 2];
      for (int i = 0; i < frequencies.length; i++) {
        double frequency = StrictMath.pow(base, -2.0 * i / headDim);
        if (!frequencyDivisors.isEmpty()) {
          frequency /= frequencyDivisors.get(i);
        }
        frequencies[i] = scaling == null ? frequency : scaling.scale(frequency);
      }
      return frequencies;
    }
  }

  /**
   * Frequency scaling of Llama 3.1 ({@code rope_type: llama3}): long wavelengths are stretched by
   * the factor, short ones kept, those between blended linearly (Grattafiori et al. 2024).
   *
   * @param factor divisor of the low frequencies
   * @param lowFrequencyFactor wavelengths above {@code originalContext / this} are divided
   * @param highFrequencyFactor wavelengths below {@code originalContext / this} are kept
   * @param originalContext context length before scaling
   */
  public record Llama3Scaling(
      double factor, double lowFrequencyFactor, double highFrequencyFactor, int originalContext) {

    private double scale(double frequency) {
      double turns = originalContext / (2 * Math.PI / frequency);
      if (turns < lowFrequencyFactor) {
        return frequency / factor;
      }
      if (turns > highFrequencyFactor) {
        return frequency;
      }
      double smooth = (turns - lowFrequencyFactor) / (highFrequencyFactor - lowFrequencyFactor);
      return (1 - smooth) * frequency / factor + smooth * frequency;
    }
  }
}
