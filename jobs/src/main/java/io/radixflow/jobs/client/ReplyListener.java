package io.radixflow.jobs.client;

import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.ReplyDelta;

/** Hears how a reply grows; called on the client's threads, one at a time for a turn. */
public interface ReplyListener {

  /** Hears nothing. */
  ReplyListener SILENT = new ReplyListener() {};

  /** The content goes on. */
  default void text(String piece) {}

  /**
   * Another part of the reply goes on: reasoning, or a call of a tool.
   *
   * @param index counts the reply's calls from 0; -1 for reasoning
   * @param id of the call; null for reasoning
   */
  default void part(ReplyDelta.Kind kind, int index, String id, String piece) {}

  /**
   * The text changed from this point on: a new attempt says something else.
   *
   * @param codePoints how much of all text stays, of whatever part
   */
  default void restarted(int codePoints) {}

  /** The reply is complete, and will be committed at the next checkpoint. */
  default void finished(ReplyDelta last) {}

  /** The reply is committed; nothing follows. */
  default void committed(Reply reply) {}
}
