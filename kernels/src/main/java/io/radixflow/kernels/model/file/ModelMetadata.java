package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.ModelFormatException;
import java.util.List;

/**
 * Typed key-value metadata of a model file, as GGUF has it ({@code tokenizer.ggml.tokens} …). All
 * values come from an untrusted file: sizes were checked, meanings were not.
 */
public interface ModelMetadata {

  /** Returns whether the key is present. */
  boolean has(String key);

  /**
   * A string.
   *
   * @throws ModelFormatException if the key is missing or of another type, as for all getters
   */
  String string(String key);

  /** An integer of any width. */
  long integer(String key);

  /** A float of any width. */
  double real(String key);

  /** A boolean. */
  boolean bool(String key);

  /** An array of strings. */
  List<String> strings(String key);

  /** An array of integers of any width. */
  int[] integers(String key);

  /** An array of floats. */
  float[] reals(String key);
}
