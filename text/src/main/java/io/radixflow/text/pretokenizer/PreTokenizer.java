package io.radixflow.text.pretokenizer;

/**
 * Cuts a text into the pieces within which merges may happen. Stateless; thread-safe.
 *
 * <p>Text is well-formed UTF-16: every surrogate has its partner.
 */
public interface PreTokenizer {

  /** Receives the pieces in order; together they are the text. */
  interface Sink {
    void piece(char[] text, int from, int to);
  }

  /** Cuts {@code text[from, to)}; nothing outside the range is looked at. */
  void split(char[] text, int from, int to, Sink sink);

  /** Cuts the pieces of this splitter again with another. */
  default PreTokenizer then(PreTokenizer second) {
    return (text, from, to, sink) ->
        split(text, from, to, (chars, start, end) -> second.split(chars, start, end, sink));
  }
}
