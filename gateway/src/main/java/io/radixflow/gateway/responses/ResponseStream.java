package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.responses.ResponseRecord.Failure;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.operators.record.Reply.TokenLogprob;
import java.util.ArrayList;
import java.util.List;

/**
 * The server-sent events of one response. Their sequence numbers are a function of the response
 * alone, not of how its text came in pieces or of who sends it:
 *
 * <ul>
 *   <li>0 to 3: created, in_progress, output_item.added, content_part.added;
 *   <li>3 + e: a piece of text that ends after e code points;
 *   <li>from 4 + the text's length: output_text.done, content_part.done, output_item.done, and the
 *       response as it ended. Of one that failed there is only the last, as number 4 + length.
 * </ul>
 *
 * <p>So a client that has seen number N gets from any gateway exactly what follows: events up to N
 * are not sent, and a piece of text that N lies in is cut there. An {@code error} event has the
 * number of the event before it, since the stream can be resumed after it.
 *
 * <p>Only one thread at a time may use it.
 */
final class ResponseStream {

  /** Takes an event that is due. */
  @FunctionalInterface
  interface Sink {
    void event(String type, ObjectNode data);
  }

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The number of the last event before the text. */
  private static final long OPENED = 3;

  private final long after;
  private final Sink sink;
  private final StringBuilder text = new StringBuilder();
  private final List<TokenLogprob> logprobs = new ArrayList<>();
  private ResponseRecord response;
  private long codePoints;
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

  /** Sends the events before the text. */
  void open(ResponseRecord began) {
    response = began;
    send(0, whole("response.created", began.begun()));
    send(1, whole("response.in_progress", began.at(Status.IN_PROGRESS)));
    ObjectNode added = event("response.output_item.added").put("output_index", 0);
    added.set("item", ResponseJson.emptyReply(began));
    send(2, added);
    ObjectNode part = content("response.content_part.added");
    part.set("part", ResponseJson.outputText("", null));
    send(OPENED, part);
  }

  /**
   * Sends what the client lacks of a piece of text.
   *
   * @param piece whole characters that follow those before
   * @param tokens log probabilities of the piece's tokens, or null
   */
  void text(String piece, List<TokenLogprob> tokens) {
    if (tokens != null) {
      logprobs.addAll(tokens);
    }
    if (piece.isEmpty()) {
      return;
    }
    int length = piece.codePointCount(0, piece.length());
    long has = after - OPENED - codePoints;
    text.append(piece);
    codePoints += length;
    if (has >= length) {
      return;
    }
    int known = (int) Math.max(has, 0);
    ObjectNode delta = content("response.output_text.delta");
    delta.put("delta", piece.substring(piece.offsetByCodePoints(0, known)));
    delta.set(
        "logprobs", ResponseJson.logprobs(tokens == null ? null : rest(tokens, known), false));
    send(OPENED + codePoints, delta);
  }

  /** Returns the tokens that do not lie wholly within the first code points of their text. */
  private static List<TokenLogprob> rest(List<TokenLogprob> tokens, int known) {
    int from = 0;
    int end = 0;
    while (from < tokens.size()) {
      String token = tokens.get(from).token();
      end += token.codePointCount(0, token.length());
      if (end > known) {
        break;
      }
      from++;
    }
    return known == 0 ? tokens : tokens.subList(from, tokens.size());
  }

  /**
   * Sends what the text still lacks, and the events after it.
   *
   * @param ended the response with its whole text
   */
  void close(ResponseRecord ended) {
    if (!ended.text().startsWith(text.toString())) {
      error("server_error", "the reply was made again on another kind of device; read it whole");
      return;
    }
    text(ended.text().substring(text.length()), null);
    if (ended.status() == Status.FAILED) {
      send(OPENED + codePoints + 1, whole("response.failed", ended));
      return;
    }
    List<TokenLogprob> all = ended.logprobs() != null ? ended.logprobs() : logprobs;
    ResponseRecord whole =
        ended.ended(
            ended.status(), ended.completed(), ended.text(), all, ended.usage(), ended.failure());
    long number = OPENED + codePoints;
    ObjectNode done = content("response.output_text.done").put("text", whole.text());
    done.set("logprobs", ResponseJson.logprobs(all, false));
    send(++number, done);
    ObjectNode part = content("response.content_part.done");
    part.set("part", ResponseJson.outputText(whole.text(), all));
    send(++number, part);
    ObjectNode item = event("response.output_item.done").put("output_index", 0);
    item.set("item", ResponseJson.reply(whole));
    send(++number, item);
    String end = whole.status() == Status.COMPLETED ? "response.completed" : "response.incomplete";
    send(++number, whole(end, whole));
  }

  /** Sends that the stream ends early; the client can resume it, or read the response later. */
  void error(String code, String message) {
    ObjectNode error = event("error");
    error.put("code", code).put("message", message).putNull("param");
    sink.event("error", error.put("sequence_number", last));
  }

  /** Sends that a response failed whose turn the job has not accepted. */
  void reject(Failure failure) {
    close(response.ended(Status.FAILED, 0, text.toString(), null, null, failure));
  }

  private void send(long number, ObjectNode event) {
    if (number > after) {
      last = number;
      sink.event(event.get("type").textValue(), event.put("sequence_number", number));
    }
  }

  private static ObjectNode event(String type) {
    return JSON.objectNode().put("type", type);
  }

  private ObjectNode content(String type) {
    return event(type)
        .put("item_id", response.itemId())
        .put("output_index", 0)
        .put("content_index", 0);
  }

  private static ObjectNode whole(String type, ResponseRecord response) {
    ObjectNode event = event(type);
    event.set("response", ResponseJson.response(response));
    return event;
  }
}
