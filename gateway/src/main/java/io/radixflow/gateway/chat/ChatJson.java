package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.turn.TurnPiece;
import java.io.IOException;

/** Writes chat completions. */
final class ChatJson extends CompletionJson {

  ChatJson(String id, long created, String model) {
    super(id, created, model, "chat.completion", "chat.completion.chunk");
  }

  @Override
  void message(JsonGenerator json, Choice choice) throws IOException {
    json.writeObjectFieldStart("message");
    json.writeStringField("role", "assistant");
    json.writeStringField("content", choice.text());
    json.writeNullField("refusal");
    json.writeEndObject();
    json.writeNullField("logprobs");
  }

  @Override
  void delta(JsonGenerator json, boolean first, TurnPiece next, boolean last) throws IOException {
    json.writeObjectFieldStart("delta");
    if (first) {
      json.writeStringField("role", "assistant");
    }
    if (first || !last) {
      json.writeStringField("content", next.text());
    }
    json.writeEndObject();
    json.writeNullField("logprobs");
  }
}
