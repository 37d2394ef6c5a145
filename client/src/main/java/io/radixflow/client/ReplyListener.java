package io.radixflow.client;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;

/** Receives a growing reply. Called on the client's threads, one call at a time per turn. */
public interface ReplyListener {

  /** A listener that ignores all calls. */
  ReplyListener SILENT = new ReplyListener() {};

  /** The content continues with a piece. */
  default void text(String piece) {}

  /**
   * Another part of the reply continues: reasoning, or a tool call.
   *
   * @param index counts the reply's calls from 0; -1 for reasoning
   * @param id id of the call; null for reasoning
   */
  default void part(ReplyDelta.Kind kind, int index, String id, String piece) {}

  /**
   * The text changed from this point on, because a new attempt has a different text.
   *
   * @param codePoints how many code points of the reply stay, over all parts
   */
  default void restarted(int codePoints) {}

  /** The reply is complete, and will be committed at the next checkpoint. */
  default void finished(ReplyDelta last) {}

  /** The reply is committed. No further call follows. */
  default void committed(Reply reply) {}
}
