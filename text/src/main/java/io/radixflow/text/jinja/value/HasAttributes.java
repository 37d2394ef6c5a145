package io.radixflow.text.jinja.value;

/** A value that has its own attributes. It is printed as its {@code toString}. */
public interface HasAttributes {

  /** Returns the attribute, or {@link Arguments#MISSING}. */
  Object attribute(String name);
}
