package io.radixflow.jobs.client;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/** Hears how a reply grows; called on the client's threads, one at a time for a turn. */
public interface ReplyListener {

  /** Hears nothing. */
  ReplyListener SILENT = new ReplyListener() {};

  /** The text goes on. */
  default void text(String piece) {}

  /**
   * The text changed from this point on: a new attempt says something else.
   *
   * @param codePoints how much of the text stays
   */
  default void restarted(int codePoints) {}

  /** The reply is complete, and will be committed at the next checkpoint. */
  default void finished(ReplyDelta last) {}

  /** The reply is committed; nothing follows. */
  default void committed(Reply reply) {}
}
