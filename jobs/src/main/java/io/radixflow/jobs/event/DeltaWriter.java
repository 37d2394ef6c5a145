package io.radixflow.jobs.event;

import io.radixflow.operators.record.ReplyDelta;

/** Writes deltas as {@code schema/reply-delta.schema.json} has them. */
public final class DeltaWriter {

  private DeltaWriter() {}

  /** The record's value. */
  public static byte[] write(ReplyDelta delta) {
    return JsonBytes.object(
        json -> {
          JsonBytes.text(json, "session", delta.session());
          JsonBytes.text(json, "branch", delta.branch());
          JsonBytes.text(json, "turn", delta.turn());
          json.writeNumberField("attempt", delta.attempt());
          json.writeNumberField("choice", delta.choice());
          json.writeNumberField("offset", delta.offset());
          json.writeNumberField("token_offset", delta.tokenOffset());
          json.writeNumberField("tokens", delta.tokens());
          json.writeStringField("text", Texts.wellFormed(delta.text() == null ? "" : delta.text()));
          if (delta.finishReason() != null) {
            json.writeStringField("finish_reason", delta.finishReason());
            JsonBytes.usage(
                json,
                delta.promptTokens(),
                delta.cachedTokens(),
                delta.completionTokens(),
                delta.tiers());
          }
        });
  }
}
