package io.radixflow.text.reply;

import java.util.function.Consumer;

/**
 * Reads the text of one reply as it comes and gives its parts.
 *
 * <p>A part that was given is never taken back. The sequence of (kind, index, character) depends
 * only on the whole text, not on how it is cut into pieces, so it is the same after a replay. The
 * parser throws for nothing that a model writes: broken arguments come as they were written, and
 * text that is not a call is content. The text must contain the special tokens of the model's
 * format, spelled out. Not thread safe. Time is linear, and memory is bounded by the last piece.
 */
public interface ReplyParser {

  /** Takes the next piece of the text. */
  void accept(CharSequence text, Consumer<ReplyPart> out);

  /** Ends a reply that the model ended. */
  default void finish(Consumer<ReplyPart> out) {
    finish(false, out);
  }

  /**
   * Ends the reply: text that was held back until decided is given.
   *
   * @param cut whether a limit or a stop text ended the reply: then a call that has begun and has
   *     no arguments yet is left out
   */
  void finish(boolean cut, Consumer<ReplyPart> out);
}
