package io.radixflow.client;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;

/** Receives a growing reply. Called on the client's threads, one call at a time per turn. */
public interface ReplyListener {

  /** A listener that ignores all calls. */
  ReplyListener SILENT = new ReplyListener() {};

  /** Called with the next piece of the content. */
  default void text(String piece) {}

  /**
   * Called with the next piece of another part of the reply: reasoning or a tool call.
   *
   * @param index counts the reply's calls from 0; -1 for reasoning
   * @param id id of the call; null for reasoning
   */
  default void part(ReplyDelta.Kind kind, int index, String id, String piece) {}

  /**
   * Called when the text changes from a point on, because a new attempt has a different text.
   *
   * @param codePoints number of code points of the reply that are kept, over all parts
   */
  default void restarted(int codePoints) {}

  /** Called when the reply is complete; it will be committed at the next checkpoint. */
  default void finished(ReplyDelta last) {}

  /** Called when the reply is committed. No further call follows. */
  default void committed(Reply reply) {}
}
