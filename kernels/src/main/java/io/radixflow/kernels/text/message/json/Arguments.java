package io.radixflow.kernels.text.message.json;

/** Reads the arguments of one call in the form that a model writes, and gives them as JSON. */
public interface Arguments {

  /** The outcome so far. */
  enum State {
    /** More text is needed. */
    OPEN,
    /** The arguments are a whole JSON object; what follows belongs to the call's end. */
    DONE,
    /** The text that follows does not have the call's form. */
    BROKEN
  }

  /**
   * Reads on.
   *
   * @param text the reply from what was not read yet, at {@code from}
   * @param out takes the JSON
   * @return how far it read; the rest is given once more, with more text
   */
  int read(CharSequence text, int from, StringBuilder out);

  State state();
}
