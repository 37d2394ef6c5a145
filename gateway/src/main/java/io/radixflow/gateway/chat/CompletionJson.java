package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.ReplyWriter;
import io.radixflow.gateway.api.UsageJson;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.PromptTokens;
import java.io.IOException;
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
  public final byte[] whole(List<TurnMessage> replies, List<TurnEnd> ends) {
    return Json.write(
        json -> {
          head(json, whole);
          json.writeArrayFieldStart("choices");
          for (int i = 0; i < replies.size(); i++) {
            json.writeStartObject();
            json.writeNumberField("index", i);
            message(json, i, replies.get(i));
            end(json, ends.get(i));
            json.writeEndObject();
          }
          json.writeEndArray();
          shared(json, replies.get(0).prompt());
          usage(json, ends);
          ends.get(0).writeWarnings(json);
          if (ends.size() == 1) {
            Timings.write(json, ends.get(0));
          }
        });
  }

  /**
   * Returns the first piece of a choice in a stream; null for none.
   *
   * @param part the first part of the reply
   * @param usage writes the token counts so far; null for none
   */
  byte[] opening(int choice, TurnPart part, Json.Fields usage) {
    return null;
  }

  /**
   * Returns a piece of a streamed completion.
   *
   * @param end in the choice's last piece, else null
   * @param usage writes the token counts so far; null for none
   * @param beside further fields next to the choice; null for none
   */
  final byte[] chunk(
      int choice, TurnPiece next, TurnEnd end, Json.Fields usage, Json.Fields beside) {
    return chunk(choice, json -> delta(json, choice, next), next.prompt(), end, usage, beside);
  }

  /**
   * Returns a piece of a streamed completion with the given fields of a choice besides index and
   * finish reason.
   */
  final byte[] chunk(
      int choice,
      Json.Fields delta,
      PromptTokens prompt,
      TurnEnd end,
      Json.Fields usage,
      Json.Fields beside) {
    return Json.write(
        json -> {
          head(json, piece);
          json.writeArrayFieldStart("choices");
          json.writeStartObject();
          json.writeNumberField("index", choice);
          delta.write(json);
          end(json, end);
          json.writeEndObject();
          json.writeEndArray();
          shared(json, prompt);
          if (end != null) {
            end.writeWarnings(json);
          }
          if (usage != null) {
            usage.write(json);
          }
          if (beside != null) {
            beside.write(json);
          }
        });
  }

  /** Returns the last event of a stream, with token counts. */
  final byte[] usageChunk(List<TurnEnd> ends) {
    return Json.write(
        json -> {
          head(json, piece);
          json.writeArrayFieldStart("choices");
          json.writeEndArray();
          usage(json, ends);
          if (ends.size() == 1) {
            Timings.write(json, ends.get(0));
          }
        });
  }

  /** Writes the fields of a choice of a whole completion besides its index and finish reason. */
  abstract void message(JsonGenerator json, int index, TurnMessage reply) throws IOException;

  /** Writes the fields of a choice of a piece besides its index and finish reason. */
  abstract void delta(JsonGenerator json, int index, TurnPiece next) throws IOException;

  /**
   * Writes the fields about all choices.
   *
   * @param prompt tokens of the prompt; null if they are not shown
   */
  void shared(JsonGenerator json, PromptTokens prompt) throws IOException {}

  private void head(JsonGenerator json, String object) throws IOException {
    json.writeStringField("id", id);
    json.writeStringField("object", object);
    json.writeNumberField("created", created);
    json.writeStringField("model", model);
  }

  /**
   * Writes why a choice ended. OpenAI has no finish reason for a reply that was cut, so the reason
   * is {@code length}. OpenAI has no field for the stop text either; {@code stop_reason} comes from
   * vLLM.
   *
   * @param end null while the choice continues
   */
  private static void end(JsonGenerator json, TurnEnd end) throws IOException {
    String reason = end == null ? null : end.finishReason();
    boolean cut = "cancelled".equals(reason) || "replaced".equals(reason);
    json.writeStringField("finish_reason", cut ? "length" : reason);
    if (end != null && end.stopReason() != null) {
      json.writeStringField("stop_reason", end.stopReason());
    } else if (end != null && end.stopToken() != null) {
      json.writeNumberField("stop_reason", end.stopToken());
    }
  }

  private void usage(JsonGenerator json, List<TurnEnd> ends) throws IOException {
    json.writeFieldName("usage");
    json.writeTree(UsageJson.ofCompletion(UsageSum.of(ends, choicesOfPrompt)));
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
