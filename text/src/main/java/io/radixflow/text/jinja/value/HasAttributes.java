package io.radixflow.text.jinja.value;

/** A value with attributes of its own; its {@code toString} is what it prints as. */
public interface HasAttributes {

  /** Returns the attribute, or {@link Arguments#MISSING}. */
  Object attribute(String name);
}
