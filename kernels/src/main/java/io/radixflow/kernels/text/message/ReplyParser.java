package io.radixflow.kernels.text.message;

import java.util.function.Consumer;

/**
 * Reads the text of one reply as it comes and gives its parts.
 *
 * <p>What was given is never taken back, and the sequence of (kind, index, character) is a function
 * of the whole text, however it is cut into pieces; so it is the same after a replay. Nothing that
 * a model writes makes it throw: calls that are broken, unfinished or of an unknown function come
 * as content, as they were written. The text needs the special tokens that the model's format uses
 * as their text. Not thread safe; time is linear and memory bounded by the piece given last.
 */
public interface ReplyParser {

  /** Takes the next piece of the text. */
  void accept(CharSequence text, Consumer<ReplyPart> out);

  /** Ends the reply: text that was held back until decided is given. */
  void finish(Consumer<ReplyPart> out);
}
