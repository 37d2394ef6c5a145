package io.radixflow.gateway.messages;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.ApiOutput;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.SseStream;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.Usage;
import java.util.List;

/** Streams a message as it grows. Belongs to the event loop of its exchange. */
final class MessageStream extends ApiOutput {

  private final SseStream events;
  private final MessageWriter json;
  private Usage counts = Usage.NONE;

  /** The first part of the open block, or null. */
  private TurnPart open;

  /** The number of blocks so far. */
  private int blocks;

  MessageStream(Exchange exchange, MessageWriter json) {
    super(exchange, json, 1);
    this.events = exchange.sse();
    this.json = json;
  }

  @Override
  protected void started(int choice, Usage first) {
    counts = first;
  }

  @Override
  protected void piece(int choice, TurnPiece piece) {
    if (piece.text().isEmpty()) {
      return;
    }
    TurnPart part = piece.part();
    if (open == null || !isOf(open, part)) {
      close();
      open(part, piece.text());
    }
    if (!part.opensCall()) {
      send(MessageWriter.blockDelta(blocks - 1, part, piece.text()));
    }
    events.throttle(turns);
  }

  private void send(ObjectNode event) {
    events.event(event.get("type").textValue(), event);
  }

  /**
   * Returns whether a part belongs to a block. The name and the arguments of a call belong to the
   * same block.
   */
  private static boolean isOf(TurnPart block, TurnPart part) {
    return block.index() == part.index() && block.isReasoning() == part.isReasoning();
  }

  /**
   * @param name name of the function, if the block is a call
   */
  private void open(TurnPart part, String name) {
    if (blocks == 0) {
      send(json.start(counts));
    }
    send(MessageWriter.blockStart(blocks, part, name));
    if (blocks++ == 0) {
      send(MessageWriter.typed("ping"));
    }
    open = part;
  }

  private void close() {
    if (open == null) {
      return;
    }
    if (open.isReasoning()) {
      send(json.signature(blocks - 1));
    }
    send(MessageWriter.typed("content_block_stop").put("index", blocks - 1));
    open = null;
  }

  @Override
  protected void complete(List<TurnEnd> ends) {
    TurnEnd end = ends.get(0);
    if (blocks == 0) {
      counts = end.usage();
      open(TurnPart.CONTENT, null);
    }
    close();
    send(json.delta(end));
    send(MessageWriter.typed("message_stop"));
    events.end();
  }
}
