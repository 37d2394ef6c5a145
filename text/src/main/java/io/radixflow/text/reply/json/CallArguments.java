package io.radixflow.text.reply.json;

/** Reads the arguments of one call in the form that a model writes, and gives them as JSON. */
public interface CallArguments {

  /** The outcome so far. */
  enum State {
    /** More text is needed. */
    OPEN,
    /** The arguments are a whole JSON object. Text after it belongs to the call's end. */
    DONE,
    /** The text that follows does not have the call's form. */
    BROKEN
  }

  /**
   * Reads more of the arguments.
   *
   * @param text the reply; unread text begins at {@code from}
   * @param out takes the JSON
   * @return the position up to which it read; the caller passes the rest again, with more text
   */
  int read(CharSequence text, int from, StringBuilder out);

  State state();
}
