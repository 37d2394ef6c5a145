package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import java.util.List;

/** The checks that a configuration must pass whatever file it comes from. */
final class SupportedShapes {
  private static final int MAX_SIZE = 1 << 28;
  private static final int MAX_LAYERS = 4096;
  private static final int MAX_WIDTH = 1 << 24;

  private final String file;

  /**
   * @param file named in errors
   */
  SupportedShapes(String file) {
    this.file = file;
  }

  void architecture(String found, List<String> supported) {
    if (!supported.contains(found)) {
      throw error(
          String.format(
              "architecture '%s' is not supported; supported: %s",
              found, String.join(", ", supported)));
    }
  }

  /** A positive size within reason. */
  int size(String field, long value) {
    if (value < 1 || value > MAX_SIZE) {
      throw error(field + " is " + value + "; 1 to " + MAX_SIZE + " are possible");
    }
    return (int) value;
  }

  /** A sliding window is accepted where it is off or sees the whole context. */
  void window(String field, long window, int context) {
    if (window > 0 && window < context) {
      throw unsupported(field, "a sliding window of " + window + " tokens");
    }
  }

  ModelFormatException unsupported(String field, String what) {
    return error(field + ": " + what + " is not supported");
  }

  ModelFormatException error(String what) {
    return new ModelFormatException(file + ": " + what);
  }

  /** Sizes that fit each other and stay within an int when multiplied. */
  ModelConfig consistent(ModelConfig config) {
    if (config.layers() > MAX_LAYERS) {
      throw error(config.layers() + " layers; at most " + MAX_LAYERS + " are possible");
    }
    if (config.heads() % config.kvHeads() != 0) {
      throw error(
          config.heads() + " heads do not share " + config.kvHeads() + " key/value heads evenly");
    }
    if (config.headDim() < 2 || config.headDim() % 2 != 0) {
      throw error("head dimension " + config.headDim() + "; rotary embedding needs pairs");
    }
    if ((long) config.heads() * config.headDim() > MAX_WIDTH
        || config.hiddenSize() > MAX_WIDTH
        || config.intermediateSize() > MAX_WIDTH) {
      throw error("a layer is wider than " + MAX_WIDTH);
    }
    float epsilon = config.normEpsilon();
    if (!(epsilon >= 0 && epsilon < 1)) {
      throw error("RMS norm epsilon is " + epsilon + "; expected 0 to 1");
    }
    double base = config.rope().base();
    if (!(base > 0 && base < Double.POSITIVE_INFINITY)) {
      throw error("rope base is " + base + "; expected a positive number");
    }
    return config;
  }
}
