package io.radixflow.models.file.format;

import io.radixflow.models.ModelFormatException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Typed key-value metadata of a GGUF file ({@code tokenizer.ggml.tokens} …). All values come from
 * an untrusted file. Their sizes were checked, their meaning was not. A getter throws {@link
 * ModelFormatException} if the key is missing or has another type.
 *
 * @param file named in errors
 * @param values integers as {@code Long}, floats as {@code Double}, arrays as {@code long[]},
 *     {@code double[]} or lists of strings; booleans in an array are 0 and 1
 */
public record GgufMetadata(Path file, Map<String, Object> values) {

  public boolean has(String key) {
    return values.containsKey(key);
  }

  public String string(String key) {
    return get(key, String.class, "a string");
  }

  /** Returns an integer of any width. */
  public long integer(String key) {
    return get(key, Long.class, "an integer");
  }

  /** Returns a float of any width. */
  public double real(String key) {
    return get(key, Double.class, "a float");
  }

  public boolean bool(String key) {
    return get(key, Boolean.class, "a boolean");
  }

  /**
   * Returns an array of strings. It is not copied, because a vocabulary has hundreds of thousands
   * of strings.
   */
  @SuppressWarnings("unchecked") // all lists contain strings
  public List<String> strings(String key) {
    return Collections.unmodifiableList((List<String>) get(key, List.class, "an array of strings"));
  }

  /** Returns an array of integers, which must fit into 32 bits. */
  public int[] integers(String key) {
    long[] wide = get(key, long[].class, "an array of integers");
    int[] narrow = new int[wide.length];
    for (int i = 0; i < wide.length; i++) {
      if (wide[i] != (int) wide[i]) {
        throw wrong(key, "element " + i + " is " + wide[i] + ", which does not fit into 32 bits");
      }
      narrow[i] = (int) wide[i];
    }
    return narrow;
  }

  /** Returns an array of floats, rounded to 32 bits. */
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
