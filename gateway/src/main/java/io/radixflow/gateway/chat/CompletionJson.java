package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.ReplyWriter;
import io.radixflow.gateway.api.UsageJson;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.PromptTokens;
import java.util.List;

/** Writes completions. Chat completions and text completions differ only in the names of fields. */
abstract class CompletionJson implements ReplyWriter {

  private final String id;
  private long created;
  private final String model;
  private final String whole;
  private final String piece;
  private final int choicesOfPrompt;

  /**
   * @param id names the completion
   * @param created seconds since the epoch
   * @param whole the value of {@code object} in a whole completion
   * @param piece the value of {@code object} in a piece of a stream
   * @param choicesOfPrompt how many consecutive choices have the same prompt
   */
  CompletionJson(
      String id, long created, String model, String whole, String piece, int choicesOfPrompt) {
    this.id = id;
    this.created = created;
    this.model = model;
    this.whole = whole;
    this.piece = piece;
    this.choicesOfPrompt = choicesOfPrompt;
  }

  @Override
  public final void created(long first) {
    created = first;
  }

  @Override
  public final ObjectNode whole(List<TurnMessage> replies, List<TurnEnd> ends) {
    ObjectNode json = head(whole);
    ArrayNode choices = json.putArray("choices");
    for (int i = 0; i < replies.size(); i++) {
      addChoice(choices, i, message(i, replies.get(i)), ends.get(i));
    }
    addPrompt(json, replies.get(0).prompt());
    addUsage(json, ends);
    ends.get(0).putWarnings(json);
    if (ends.size() == 1) {
      Timings.add(json, ends.get(0));
    }
    return json;
  }

  /**
   * Returns the first piece of a choice in a stream; null for none.
   *
   * @param part the first part of the reply
   */
  ObjectNode opening(int choice, TurnPart part) {
    return null;
  }

  /**
   * Returns a piece of a streamed completion.
   *
   * @param end in the choice's last piece, else null
   */
  final ObjectNode chunk(int choice, TurnPiece next, TurnEnd end) {
    ObjectNode json = chunk(choice, delta(choice, next), end);
    addPrompt(json, next.prompt());
    if (end != null) {
      end.putWarnings(json);
    }
    return json;
  }

  /**
   * Returns a piece of a streamed completion.
   *
   * @param fields the fields of the choice besides index and finish reason
   * @param end in the choice's last piece, else null
   */
  final ObjectNode chunk(int choice, ObjectNode fields, TurnEnd end) {
    ObjectNode json = head(piece);
    addChoice(json.putArray("choices"), choice, fields, end);
    return json;
  }

  /** Returns the last event of a stream, with token counts. */
  final ObjectNode usageChunk(List<TurnEnd> ends) {
    ObjectNode json = head(piece);
    json.putArray("choices");
    addUsage(json, ends);
    if (ends.size() == 1) {
      Timings.add(json, ends.get(0));
    }
    return json;
  }

  /** Returns the fields of a choice of a whole completion besides its index and finish reason. */
  abstract ObjectNode message(int index, TurnMessage reply);

  /** Returns the fields of a choice of a piece besides its index and finish reason. */
  abstract ObjectNode delta(int index, TurnPiece next);

  /**
   * Adds the tokens of the prompt, which are not a choice's.
   *
   * @param prompt null if the tokens are not shown
   */
  void addPrompt(ObjectNode json, PromptTokens prompt) {}

  private ObjectNode head(String object) {
    ObjectNode json = Json.object().put("id", id).put("object", object);
    return json.put("created", created).put("model", model);
  }

  /**
   * Adds a choice, and why it ended. OpenAI has no finish reason for a reply that was cut, so the
   * reason is {@code length}. OpenAI has no field for the stop text either; {@code stop_reason}
   * comes from vLLM.
   *
   * @param end null while the choice continues
   */
  private static void addChoice(ArrayNode choices, int index, ObjectNode fields, TurnEnd end) {
    ObjectNode choice = choices.addObject().put("index", index);
    choice.setAll(fields);
    String reason = end == null ? null : end.finishReason();
    boolean cut = "cancelled".equals(reason) || "replaced".equals(reason);
    choice.put("finish_reason", cut ? "length" : reason);
    if (end != null && end.stopReason() != null) {
      choice.put("stop_reason", end.stopReason());
    } else if (end != null && end.stopToken() != null) {
      choice.put("stop_reason", end.stopToken());
    }
  }

  private void addUsage(ObjectNode json, List<TurnEnd> ends) {
    json.set("usage", UsageJson.ofCompletion(UsageSum.of(ends, choicesOfPrompt)));
  }

  /** Keeps a piece that must not be written yet; returns whether it kept the piece. */
  boolean holds(int choice, TurnPiece piece) {
    return false;
  }

  /** Returns the kept piece of a choice that is ready to be written; null for none. */
  TurnPiece held(int choice) {
    return null;
  }
}
