package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.operators.record.Reply.TokenLogprob;
import io.radixflow.operators.record.Reply.TopLogprob;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

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
    logprobs(json, choice.logprobs());
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
    logprobs(json, next.logprobs());
  }

  private static void logprobs(JsonGenerator json, List<TokenLogprob> tokens) throws IOException {
    if (tokens.isEmpty()) {
      json.writeNullField("logprobs");
      return;
    }
    json.writeObjectFieldStart("logprobs");
    json.writeArrayFieldStart("content");
    for (TokenLogprob token : tokens) {
      json.writeStartObject();
      token(json, token.token(), token.logprob());
      json.writeArrayFieldStart("top_logprobs");
      if (token.top() != null) {
        for (TopLogprob top : token.top()) {
          json.writeStartObject();
          token(json, top.token(), top.logprob());
          json.writeEndObject();
        }
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeNullField("refusal");
    json.writeEndObject();
  }

  /** A token that holds a part of a character has no bytes that its text would show. */
  private static void token(JsonGenerator json, String text, float logprob) throws IOException {
    json.writeStringField("token", text);
    json.writeNumberField("logprob", logprob);
    if (text.indexOf('\uFFFD') >= 0) {
      json.writeNullField("bytes");
      return;
    }
    json.writeArrayFieldStart("bytes");
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      json.writeNumber(each & 0xff);
    }
    json.writeEndArray();
  }
}
