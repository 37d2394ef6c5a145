package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.ModelFormatException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Metadata of a GGUF file. Integers are kept as {@code Long}, floats as {@code Double}, arrays as
 * {@code long[]}, {@code double[]} or {@link Strings}; booleans in an array are 0 and 1.
 */
final class GgufMetadata implements ModelMetadata {
  /** An array of strings, immutable. */
  record Strings(List<String> values) {}

  private final Path file;
  private final Map<String, Object> values;

  GgufMetadata(Path file, Map<String, Object> values) {
    this.file = file;
    this.values = values;
  }

  Path file() {
    return file;
  }

  @Override
  public boolean has(String key) {
    return values.containsKey(key);
  }

  @Override
  public String string(String key) {
    return get(key, String.class, "a string");
  }

  @Override
  public long integer(String key) {
    return get(key, Long.class, "an integer");
  }

  @Override
  public double real(String key) {
    return get(key, Double.class, "a float");
  }

  @Override
  public boolean bool(String key) {
    return get(key, Boolean.class, "a boolean");
  }

  @Override
  public List<String> strings(String key) {
    return get(key, Strings.class, "an array of strings").values();
  }

  @Override
  public int[] integers(String key) {
    long[] wide = get(key, long[].class, "an array of integers");
    int[] narrow = new int[wide.length];
    for (int i = 0; i < wide.length; i++) {
      if (wide[i] != (int) wide[i]) {
        throw wrong(key, "element " + i + " is " + wide[i] + ", beyond 32 bits");
      }
      narrow[i] = (int) wide[i];
    }
    return narrow;
  }

  @Override
  public float[] reals(String key) {
    double[] wide = get(key, double[].class, "an array of floats");
    float[] narrow = new float[wide.length];
    for (int i = 0; i < wide.length; i++) {
      narrow[i] = (float) wide[i];
    }
    return narrow;
  }

  private <T> T get(String key, Class<T> type, String expected) {
    Object value = values.get(key);
    if (value == null) {
      throw wrong(key, "missing");
    }
    if (!type.isInstance(value)) {
      throw wrong(key, "expected " + expected + ", found " + value.getClass().getSimpleName());
    }
    return type.cast(value);
  }

  private ModelFormatException wrong(String key, String what) {
    return new ModelFormatException(file + ": metadata " + key + ": " + what);
  }
}
