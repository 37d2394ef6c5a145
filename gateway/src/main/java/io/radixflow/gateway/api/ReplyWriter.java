package io.radixflow.gateway.api;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnMessage;
import java.util.List;

/** Writes the reply to one request in the form of an API. */
public interface ReplyWriter {

  /** Returns the field of the request that contains the prompt. */
  String promptField();

  /**
   * Sets the time when the request was first sent. Called before anything is written.
   *
   * @param first seconds since the epoch
   */
  default void created(long first) {}

  /** Returns the whole reply. Both lists have one element per choice. */
  ObjectNode whole(List<TurnMessage> replies, List<TurnEnd> ends);
}
