package io.radixflow.text.reply;

import java.util.function.Consumer;

/**
 * Reads the text of one reply as it arrives and returns its parts.
 *
 * <p>A part is never taken back. The sequence of (kind, index, character) depends only on the whole
 * text, not on how it is split into pieces, so it is the same after a replay. The parser does not
 * throw for any text that a model writes: broken arguments are passed on as they are written, and
 * text that is not a call is content. The text must contain the special tokens of the model's
 * format, written out. Not thread-safe. Time is linear, and memory is bounded by the last piece.
 */
public interface ReplyParser {

  /** Adds the next piece of the text. */
  void accept(CharSequence text, Consumer<ReplyPart> out);

  /** Ends a reply that the model itself ended. */
  default void finish(Consumer<ReplyPart> out) {
    finish(false, out);
  }

  /**
   * Ends the reply and passes on the text that was held back.
   *
   * @param cut whether a limit or a stop text ended the reply; then a call that has no arguments
   *     yet is dropped
   */
  void finish(boolean cut, Consumer<ReplyPart> out);
}
