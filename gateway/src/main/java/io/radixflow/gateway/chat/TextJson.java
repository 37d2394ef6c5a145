package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.operators.record.Reply.TokenLogprob;
import io.radixflow.operators.record.Reply.TopLogprob;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Writes completions of prompts. */
final class TextJson extends CompletionJson {

  TextJson(String id, long created, String model) {
    super(id, created, model, "text_completion", "text_completion");
  }

  @Override
  void message(JsonGenerator json, Choice choice) throws IOException {
    json.writeStringField("text", choice.message().content());
    logprobs(json, 0, choice.message().logprobs());
  }

  @Override
  void delta(JsonGenerator json, TurnPiece next, boolean last) throws IOException {
    json.writeStringField("text", next.text());
    logprobs(json, next.offset(), next.logprobs());
  }

  private static void logprobs(JsonGenerator json, int offset, List<TokenLogprob> tokens)
      throws IOException {
    if (tokens.isEmpty()) {
      json.writeNullField("logprobs");
      return;
    }
    json.writeObjectFieldStart("logprobs");
    json.writeArrayFieldStart("tokens");
    for (TokenLogprob token : tokens) {
      json.writeString(TokenText.legacy(token.token(), token.bytes()));
    }
    json.writeEndArray();
    json.writeArrayFieldStart("token_logprobs");
    for (TokenLogprob token : tokens) {
      json.writeNumber(token.logprob());
    }
    json.writeEndArray();
    json.writeArrayFieldStart("top_logprobs");
    for (TokenLogprob token : tokens) {
      alternatives(json, token);
    }
    json.writeEndArray();
    json.writeArrayFieldStart("text_offset");
    int at = offset;
    for (TokenLogprob token : tokens) {
      json.writeNumber(TokenText.goesOn(token.bytes()) ? at - 1 : at);
      at += TokenText.begun(token.token(), token.bytes());
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /** Tokens may have the same text; an object has each name once. */
  private static void alternatives(JsonGenerator json, TokenLogprob token) throws IOException {
    json.writeStartObject();
    if (token.top() != null) {
      Set<String> names = new HashSet<>();
      for (TopLogprob top : token.top()) {
        String name = TokenText.legacy(top.token(), top.bytes());
        if (names.add(name)) {
          json.writeNumberField(name, top.logprob());
        }
      }
    }
    json.writeEndObject();
  }
}
