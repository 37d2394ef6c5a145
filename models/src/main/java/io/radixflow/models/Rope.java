package io.radixflow.models;

import java.util.List;

/**
 * Rotary position embedding (Su et al. 2021).
 *
 * @param base theta
 * @param interleaved whether pairs are (2i, 2i+1), as in llama's GGUF files; false for (i, i+d/2)
 * @param scaling changes the frequencies for long contexts; null for none
 * @param frequencyDivisors one divisor per pair's frequency, as in GGUF's {@code rope_freqs.weight}
 *     and in longrope; empty for none
 * @param part share of a head that is rotated, starting with the first element; 1 for the whole
 *     head
 * @param magnitude factor of all sines and cosines
 */
public record Rope(
    double base,
    boolean interleaved,
    Scaling scaling,
    List<Float> frequencyDivisors,
    double part,
    double magnitude) {

  public Rope {
    frequencyDivisors = List.copyOf(frequencyDivisors);
  }

  /** An embedding that rotates whole heads, without divisors. */
  public Rope(double base, boolean interleaved, Scaling scaling) {
    this(base, interleaved, scaling, List.of(), 1, 1);
  }

  /** Returns the same embedding with one divisor per pair's frequency. */
  public Rope withDivisors(List<Float> divisors) {
    return new Rope(base, interleaved, scaling, divisors, part, magnitude);
  }

  /** Number of elements of a head that are rotated. */
  public int width(int headDim) {
    return (int) (headDim * part);
  }

  /**
   * The angle in radians by which each pair of a head turns per position: {@code base^(-2i/d)},
   * scaled. The doubles have the same bits on every machine.
   */
  public double[] frequencies(int headDim) {
    int width = width(headDim);
    double[] frequencies = new double[width / 2];
    for (int i = 0; i < frequencies.length; i++) {
      frequencies[i] = StrictMath.pow(base, -2.0 * i / width);
      if (!frequencyDivisors.isEmpty()) {
        frequencies[i] /= frequencyDivisors.get(i);
      }
    }
    if (scaling != null) {
      scaling.scale(frequencies, base);
    }
    return frequencies;
  }

  /** The cosine of a pair's angle in radians, times the magnitude. */
  public float cosine(double angle) {
    return (float) (StrictMath.cos(angle) * magnitude);
  }

  /** The sine of a pair's angle in radians, times the magnitude. */
  public float sine(double angle) {
    return (float) (StrictMath.sin(angle) * magnitude);
  }

  /** Changes frequencies so that a model can process longer contexts than it was pretrained for. */
  public sealed interface Scaling {

    /** Scales the frequencies of all pairs in place. */
    void scale(double[] frequencies, double base);
  }

  /**
   * Divides all frequencies.
   *
   * @param factor the divisor
   */
  public record LinearScaling(double factor) implements Scaling {
    @Override
    public void scale(double[] frequencies, double base) {
      for (int i = 0; i < frequencies.length; i++) {
        frequencies[i] /= factor;
      }
    }
  }

  /**
   * Frequency scaling of Llama 3.1 ({@code rope_type: llama3}): long wavelengths are stretched by
   * the factor, short ones are kept, and wavelengths in between are blended linearly (Grattafiori
   * et al. 2024).
   *
   * @param factor divisor of the low frequencies
   * @param lowFrequencyFactor wavelengths above {@code originalContext / this} are divided
   * @param highFrequencyFactor wavelengths below {@code originalContext / this} are kept
   * @param originalContext context length before scaling
   */
  public record Llama3Scaling(
      double factor, double lowFrequencyFactor, double highFrequencyFactor, int originalContext)
      implements Scaling {

    @Override
    public void scale(double[] frequencies, double base) {
      for (int i = 0; i < frequencies.length; i++) {
        frequencies[i] = scaled(frequencies[i]);
      }
    }

    private double scaled(double frequency) {
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

  /**
   * YaRN (Peng et al. 2023). The frequency of pairs that turn rarely within the original context is
   * divided by the factor. Pairs that turn often keep their frequency. Pairs in between are blended
   * by index.
   *
   * @param factor divisor of the low frequencies
   * @param originalContext context length before scaling
   * @param betaFast with this number of turns or more within the original context, a frequency is
   *     kept
   * @param betaSlow with fewer turns, a frequency is divided
   * @param truncated whether the limits of the blend are rounded to whole indexes
   */
  public record YarnScaling(
      double factor, int originalContext, double betaFast, double betaSlow, boolean truncated)
      implements Scaling {

    @Override
    public void scale(double[] frequencies, double base) {
      int width = 2 * frequencies.length;
      double low = index(betaFast, width, base);
      double high = index(betaSlow, width, base);
      low = Math.max(truncated ? Math.floor(low) : low, 0);
      high = Math.min(truncated ? Math.ceil(high) : high, width - 1);
      if (low == high) {
        high += 0.001;
      }
      for (int i = 0; i < frequencies.length; i++) {
        double divided = Math.min(1, Math.max(0, (i - low) / (high - low)));
        frequencies[i] = frequencies[i] / factor * divided + frequencies[i] * (1 - divided);
      }
    }

    /** The index of the pair that turns {@code turns} times within the original context. */
    private double index(double turns, int width, double base) {
      return width
          * StrictMath.log(originalContext / (turns * 2 * Math.PI))
          / (2 * StrictMath.log(base));
    }

    /**
     * The factor of sines and cosines that the paper recommends, weighted by {@code weight}; 1 for
     * factors up to 1.
     */
    public static double magnitude(double factor, double weight) {
      return factor <= 1 ? 1 : 0.1 * weight * StrictMath.log(factor) + 1;
    }
  }
}
