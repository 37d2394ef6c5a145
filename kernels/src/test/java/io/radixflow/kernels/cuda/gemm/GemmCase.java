package io.radixflow.kernels.cuda.gemm;

import io.radixflow.kernels.cuda.step.Bf16;
import io.radixflow.kernels.cuda.step.Closeness;
import java.util.Random;

/**
 * A product of random bf16 matrices with what its epilogues add, and how it is computed plainly.
 */
final class GemmCase {

  final int rows;
  final int features;
  final int depth;
  final short[] weights;
  final short[] x;
  final float[] bias;
  final short[] residual;

  GemmCase(int rows, int features, int depth, Random random) {
    this.rows = rows;
    this.features = features;
    this.depth = depth;
    weights = Bf16.random(features * depth, 1 / Math.sqrt(depth), random);
    x = Bf16.random(rows * depth, 1, random);
    residual = Bf16.random(rows * features, 1, random);
    bias = new float[features];
    for (int i = 0; i < features; i++) {
      bias[i] = (float) random.nextGaussian();
    }
  }

  /**
   * Makes the exact sums of all rows zero, so that a result is what rounding left: in each row an
   * element is the opposite of another with the same weights.
   */
  void cancel() {
    int half = depth / 2;
    for (int feature = 0; feature < features; feature++) {
      System.arraycopy(weights, feature * depth, weights, feature * depth + half, half);
    }
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < half; i++) {
        x[row * depth + half + i] = (short) (x[row * depth + i] ^ 0x8000);
      }
    }
  }

  /** Features of the result. */
  int width(GemmEpilogue epilogue) {
    return epilogue.gates() ? features / 2 : features;
  }

  boolean allows(GemmEpilogue epilogue) {
    return epilogue == GemmEpilogue.LOGITS || features % (epilogue.gates() ? 16 : 8) == 0;
  }

  /** The factor of an epilogue that has one. */
  static float scale(GemmEpilogue epilogue) {
    return epilogue == GemmEpilogue.RESIDUAL || epilogue == GemmEpilogue.LOGITS ? 0.75f : 1;
  }

  /** The bound of an epilogue that has one. */
  static float bound(GemmEpilogue epilogue) {
    return epilogue == GemmEpilogue.CLAMPED_SWIGLU ? 0.5f : 0;
  }

  /** The result and its plain counterpart. */
  Closeness expected(GemmEpilogue epilogue) {
    int width = width(epilogue);
    double[] exact = new double[rows * width];
    float[] plain = new float[rows * width];
    for (int row = 0; row < rows; row++) {
      for (int i = 0; i < width; i++) {
        int at = row * width + i;
        switch (epilogue) {
          case PLAIN, LOGITS -> {
            exact[at] = exactSum(row, i) * scale(epilogue);
            plain[at] = plainSum(row, i) * scale(epilogue);
          }
          case BIAS -> {
            exact[at] = exactSum(row, i) + bias[i];
            plain[at] = plainSum(row, i) + bias[i];
          }
          case RESIDUAL -> {
            float other = Bf16.toFloat(residual[at]);
            exact[at] = exactSum(row, i) * scale(epilogue) + other;
            plain[at] = plainSum(row, i) * scale(epilogue) + other;
          }
          case SWIGLU -> {
            int gate = i / 8 * 16 + i % 8;
            double exactGate = exactSum(row, gate);
            float plainGate = plainSum(row, gate);
            float plainSilu = rounded(plainGate / (1 + Math.exp(-plainGate)));
            exact[at] = exactGate / (1 + Math.exp(-exactGate)) * exactSum(row, gate + 8);
            plain[at] = plainSilu * plainSum(row, gate + 8);
          }
          case GEGLU -> {
            int gate = i / 8 * 16 + i % 8;
            double up = exactSum(row, gate + 8) + bias[gate + 8];
            exact[at] = gelu(exactSum(row, gate) + bias[gate]) * up;
            plain[at] =
                rounded(gelu(rounded(plainSum(row, gate) + bias[gate])))
                    * rounded(plainSum(row, gate + 8) + bias[gate + 8]);
          }
          case NORMAL_GLU -> {
            int gate = i / 8 * 16 + i % 8;
            double up = exactSum(row, gate + 8) + bias[gate + 8];
            exact[at] = normalGelu(exactSum(row, gate) + bias[gate]) * up;
            plain[at] =
                rounded(normalGelu(rounded(plainSum(row, gate) + bias[gate])))
                    * rounded(plainSum(row, gate + 8) + bias[gate + 8]);
          }
          case CLAMPED_SWIGLU -> {
            int gate = i / 8 * 16 + i % 8;
            double up = exactSum(row, gate + 8) + bias[gate + 8];
            exact[at] = clamped(exactSum(row, gate) + bias[gate], up);
            plain[at] =
                (float)
                    clamped(
                        rounded(plainSum(row, gate) + bias[gate]),
                        rounded(plainSum(row, gate + 8) + bias[gate + 8]));
          }
        }
        plain[at] = rounded(plain[at]);
      }
    }
    return new Closeness(exact, plain);
  }

  private static double gelu(double x) {
    return x / 2 * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x * x * x)));
  }

  /** x Φ(x), by Marsaglia's series for Φ (2004). */
  private static double normalGelu(double x) {
    double sum = x;
    double term = x;
    for (int i = 3; Math.abs(term) > 1e-12 * Math.abs(sum); i += 2) {
      term *= x * x / i;
      sum += term;
    }
    return x * (0.5 + sum * Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI));
  }

  private static double clamped(double gate, double up) {
    double bound = bound(GemmEpilogue.CLAMPED_SWIGLU);
    double g = Math.min(gate, bound);
    return g / (1 + Math.exp(-1.702 * g)) * (Math.min(bound, Math.max(-bound, up)) + 1);
  }

  private double exactSum(int row, int feature) {
    double sum = 0;
    for (int k = 0; k < depth; k++) {
      sum += (double) Bf16.toFloat(x[row * depth + k]) * Bf16.toFloat(weights[feature * depth + k]);
    }
    return sum;
  }

  private float plainSum(int row, int feature) {
    float sum = 0;
    for (int k = 0; k < depth; k++) {
      sum += Bf16.toFloat(x[row * depth + k]) * Bf16.toFloat(weights[feature * depth + k]);
    }
    return rounded(sum);
  }

  private static float rounded(double value) {
    return Bf16.toFloat(Bf16.of(value));
  }
}
