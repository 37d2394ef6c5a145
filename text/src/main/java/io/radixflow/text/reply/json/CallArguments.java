package io.radixflow.text.reply.json;

/** Reads the arguments of one call in a model's format and converts them to JSON. */
public interface CallArguments {

  /** The state of the arguments so far. */
  enum State {
    /** More text is needed. */
    OPEN,
    /** The arguments are a complete JSON object. Text after it belongs to the end of the call. */
    DONE,
    /** The next text does not have the format of the call. */
    BROKEN
  }

  /**
   * Reads more of the arguments.
   *
   * @param text the reply; unread text begins at {@code from}
   * @param out receives the JSON
   * @return the position after the read text; the caller passes the rest again, with more text
   */
  int read(CharSequence text, int from, StringBuilder out);

  State state();
}
