package io.radixflow.kernels.text.message;

import java.util.function.Consumer;

/**
 * Reads the text of one reply as it comes and gives its parts.
 *
 * <p>What was given is never taken back, and the sequence of (kind, index, character) is a function
 * of the whole text, however it is cut into pieces; so it is the same after a replay. Nothing that
 * a model writes makes it throw: arguments that are broken come as they were written, and what is
 * not a call is content. The text needs the special tokens that the model's format uses as their
 * text. Not thread safe; time is linear and memory bounded by the piece given last.
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
