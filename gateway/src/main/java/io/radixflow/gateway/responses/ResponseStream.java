package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.PartText;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The server-sent events of one response. Their sequence numbers depend only on the response, not
 * on the gateway or on the pieces in which its text arrives:
 *
 * <ul>
 *   <li>0 and 1: created, in_progress;
 *   <li>then for each output item: output_item.added and, except for a call, content_part.added. A
 *       piece of its text has the number of the event before the text plus the code points up to
 *       the end of the piece. Then come the text's done, content_part.done except for a call, and
 *       output_item.done. The input of a custom tool is one piece;
 *   <li>the response at its end. If the response failed, this event comes directly after the text.
 * </ul>
 *
 * <p>So a client that has seen number N can continue with any gateway: events up to N are not sent,
 * and a piece of text that contains N is cut there. An {@code error} event has the number of the
 * event before it, since the stream can be resumed after it.
 *
 * <p>Only one thread at a time may use a stream.
 */
final class ResponseStream {

  /** Receives the next event. */
  @FunctionalInterface
  interface Sink {
    void event(String type, ObjectNode data);
  }

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final long after;
  private final Sink sink;
  private final TurnMessage reply = new TurnMessage();
  private ResponseRecord response;

  /** The open item, or null. */
  private OpenItem item;

  private int items;

  /** The number of items of text and of reasoning so far. */
  private final Map<TurnPart, Integer> seen = new HashMap<>();

  /** The number of the last event, whether the client had it or not. */
  private long number = -1;

  /** The number of the last event that the client has. */
  private long last;

  /**
   * @param after the number of the last event that the client has; -1 for none
   */
  ResponseStream(long after, Sink sink) {
    this.after = after;
    this.last = Math.max(after, 0);
    this.sink = sink;
  }

  /** Returns whether {@link #open} was called. */
  boolean isOpen() {
    return response != null;
  }

  /** Sends the events before the output. */
  void open(ResponseRecord began) {
    response = began;
    send(whole("response.created", began.begun()));
    send(whole("response.in_progress", began.at(Status.IN_PROGRESS)));
  }

  /**
   * Sends the part of a piece that the client does not have. The piece follows the earlier pieces
   * directly.
   */
  void piece(TurnPiece piece) {
    if (piece.text().isEmpty() && piece.logprobs().isEmpty()) {
      return;
    }
    reply.add(piece);
    if (item == null || !item.takes(piece.part())) {
      closeItem("completed");
      openItem(piece.part(), piece.text());
    }
    item.message.add(piece);
    if (!piece.part().opensCall() && !piece.text().isEmpty() && !item.isHeld()) {
      delta(piece.text(), piece.part().isContent() ? piece.logprobs() : null);
    }
  }

  /**
   * @param logprobs log probabilities of the tokens of content; null for other text
   */
  private void delta(String text, List<TokenLogprob> logprobs) {
    int length = text.codePointCount(0, text.length());
    long has = after - number;
    number += length;
    if (has >= length) {
      return;
    }
    int known = (int) Math.max(has, 0);
    ObjectNode delta = item.event(".delta");
    delta.put("delta", text.substring(text.offsetByCodePoints(0, known)));
    if (logprobs != null) {
      delta.set("logprobs", ResponseJson.logprobs(rest(logprobs, known), false));
    }
    last = number;
    sink.event(delta.get("type").textValue(), delta.put("sequence_number", number));
  }

  /** Returns the tokens that are not completely within the first code points of their text. */
  private static List<TokenLogprob> rest(List<TokenLogprob> tokens, int known) {
    int from = 0;
    int end = 0;
    while (from < tokens.size()) {
      TokenLogprob token = tokens.get(from);
      end += TokenText.begun(token.token(), token.bytes());
      if (end > known) {
        break;
      }
      from++;
    }
    return known == 0 ? tokens : tokens.subList(from, tokens.size());
  }

  private void openItem(TurnPart part, String name) {
    int nth = part.index() < 0 ? seen.merge(part, 1, Integer::sum) - 1 : 0;
    item = new OpenItem(response, items++, part, nth, name);
    send(item.whole("response.output_item.added", item.begun()));
    if (item.hasContent()) {
      ObjectNode added = item.content("response.content_part.added");
      added.set("part", ResponseJson.part(part, "", null));
      send(added);
    }
  }

  private void closeItem(String status) {
    if (item != null) {
      if (item.isHeld() && !item.input().isEmpty()) {
        delta(item.input(), null);
      }
      item.done().forEach(this::send);
      send(item.whole("response.output_item.done", item.ended(status)));
      item = null;
    }
  }

  /**
   * Sends the rest of the output, and the events after it.
   *
   * @param ended the response with its whole reply
   */
  void close(ResponseRecord ended) {
    if (!complete(ended)) {
      error("server_error", "the reply was made again on another kind of device; read it whole");
      return;
    }
    if (items == 0) {
      openItem(TurnPart.CONTENT, null);
    }
    Status status = ended.output().status();
    if (status == Status.FAILED) {
      send(whole("response.failed", ended));
      return;
    }
    closeItem(ended.output().itemStatus());
    String end = status == Status.COMPLETED ? "response.completed" : "response.incomplete";
    send(whole(end, ended));
  }

  /**
   * Sends the rest of the reply. Returns false if the reply differs from the text that was sent.
   */
  private boolean complete(ResponseRecord ended) {
    List<PartText> sent = PartText.of(reply.message(), reply.order());
    List<PartText> whole = PartText.of(ended.output().reply(), ended.output().order());
    if (sent.size() > whole.size()) {
      return false;
    }
    for (int i = 0; i < whole.size(); i++) {
      TurnPart part = whole.get(i).part();
      String text = whole.get(i).text();
      String had = i < sent.size() ? sent.get(i).text() : "";
      boolean open = i + 1 >= sent.size();
      boolean same = i >= sent.size() || sent.get(i).part().equals(part);
      if (!same || !(open ? text.startsWith(had) : text.equals(had))) {
        return false;
      }
      if (had.length() < text.length()) {
        boolean all = sent.isEmpty() && part.isContent() && ended.output().logprobs() != null;
        List<TokenLogprob> logprobs =
            all && reply.content().isEmpty() ? ended.output().logprobs() : List.of();
        piece(new TurnPiece(0, part, text.substring(had.length()), 0, logprobs));
      }
    }
    return true;
  }

  /**
   * Sends an error that ends the stream early. The client can resume the stream, or read the
   * response later.
   */
  void error(String code, String message) {
    ObjectNode error = JSON.objectNode().put("type", "error");
    error.put("code", code).put("message", message).putNull("param");
    sink.event("error", error.put("sequence_number", last));
  }

  private void send(ObjectNode event) {
    number++;
    if (number > after) {
      last = number;
      sink.event(event.get("type").textValue(), event.put("sequence_number", number));
    }
  }

  private static ObjectNode whole(String type, ResponseRecord response) {
    ObjectNode event = JSON.objectNode().put("type", type);
    event.set("response", ResponseJson.response(response));
    return event;
  }
}
