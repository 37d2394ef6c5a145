package io.radixflow.models.file;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.file.format.GgufMetadata;

/** The metadata of one architecture, with defaults. Errors name the key and the file. */
final class GgufFields {

  private final GgufMetadata metadata;
  private final String prefix;
  private final SupportedShapes check;

  GgufFields(GgufMetadata metadata, GgufArchitecture architecture, SupportedShapes check) {
    this.metadata = metadata;
    this.prefix = architecture.type() + ".";
    this.check = check;
  }

  boolean has(String name) {
    return metadata.has(prefix + name);
  }

  /** Returns whether a key has one value per layer. */
  boolean isArray(String name) {
    return metadata.values().get(prefix + name) instanceof long[];
  }

  /** Returns a positive whole number. A missing key is an error. */
  int size(String name) {
    return check.size(prefix + name, metadata.integer(prefix + name));
  }

  int size(String name, int otherwise) {
    return has(name) ? size(name) : otherwise;
  }

  /** Returns a whole number of at least 0; 0 if it is absent. */
  int count(String name) {
    return has(name) && metadata.integer(prefix + name) != 0 ? size(name) : 0;
  }

  /** Returns a whole number or a boolean per layer. */
  int[] perLayer(String name, int layers) {
    int[] values = metadata.integers(prefix + name);
    if (values.length != layers) {
      throw error(name, values.length + " values for " + layers + " layers");
    }
    return values;
  }

  /** Returns a finite number, which the file stores as a float or an integer. */
  double real(String name, double otherwise) {
    Object value = metadata.values().get(prefix + name);
    if (value == null) {
      return otherwise;
    }
    double number = value instanceof Long whole ? whole : metadata.real(prefix + name);
    if (!Double.isFinite(number)) {
      throw error(name, number + " is not finite");
    }
    return number;
  }

  /** Returns a positive number within the range of floats; the default if it is absent or 0. */
  double positive(String name, double otherwise) {
    double value = real(name, 0);
    if (value < 0 || value > Float.MAX_VALUE) {
      throw error(name, value + "; expected a positive number");
    }
    return value == 0 ? otherwise : value;
  }

  float factor(String name, double otherwise) {
    return (float) positive(name, otherwise);
  }

  /** Returns a bound. 0 means no bound. */
  float bound(String name, float otherwise) {
    return has(name) ? factor(name, 0) : otherwise;
  }

  boolean flag(String name, boolean otherwise) {
    return has(name) ? metadata.bool(prefix + name) : otherwise;
  }

  String text(String name, String otherwise) {
    return has(name) ? metadata.string(prefix + name) : otherwise;
  }

  ModelFormatException unsupported(String name, String what) {
    return check.unsupported(prefix + name, what);
  }

  ModelFormatException error(String name, String what) {
    return check.error(prefix + name + ": " + what);
  }
}
