package io.radixflow.gateway.chat;

import com.fasterxml.jackson.core.JsonGenerator;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.CustomTools;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.gateway.turn.TurnPiece;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes chat completions. */
final class ChatJson extends CompletionJson {

  /**
   * The name of the field for reasoning in SGLang, llama.cpp and DeepSeek. OpenAI's chats do not
   * show reasoning.
   */
  private static final String REASONING = "reasoning_content";

  private final Set<String> custom;
  private final boolean reasoning;
  private final TokenStyle style;

  /** Ids of the calls of custom tools in a stream. */
  private final Set<String> customCalls = new HashSet<>();

  /** Arguments of a call of a custom tool, by choice. They wait until the whole input is known. */
  private final Map<Integer, TurnPiece> held = new HashMap<>();

  /**
   * @param custom the names of the request's tools of type custom
   * @param reasoning whether the text of the reasoning is shown
   * @param style how single tokens are shown
   */
  ChatJson(
      String id,
      long created,
      String model,
      int choices,
      Set<String> custom,
      boolean reasoning,
      TokenStyle style) {
    super(id, created, model, "chat.completion", "chat.completion.chunk", choices);
    this.custom = custom;
    this.reasoning = reasoning;
    this.style = style;
  }

  @Override
  boolean holds(int choice, TurnPiece piece) {
    TurnPart part = piece.part();
    if (hides(part)) {
      return piece.logprobs().isEmpty() && piece.ids().isEmpty() && piece.prompt() == null;
    }
    if (part.opensCall() && custom.contains(piece.text())) {
      customCalls.add(part.id());
    }
    if (part.opensCall() || part.id() == null || !customCalls.contains(part.id())) {
      return false;
    }
    held.merge(
        choice,
        piece,
        (first, next) -> {
          List<TokenLogprob> logprobs = new ArrayList<>(first.logprobs());
          logprobs.addAll(next.logprobs());
          List<Integer> ids = new ArrayList<>(first.ids());
          ids.addAll(next.ids());
          return new TurnPiece(
              first.offset(),
              part,
              first.text() + next.text(),
              first.tokens() + next.tokens(),
              logprobs,
              first.prompt(),
              ids);
        });
    return true;
  }

  private boolean hides(TurnPart part) {
    return part.isReasoning() && !reasoning;
  }

  @Override
  TurnPiece held(int choice) {
    return held.remove(choice);
  }

  @Override
  public String promptField() {
    return "messages";
  }

  @Override
  void message(JsonGenerator json, int index, TurnMessage reply) throws IOException {
    Message message = reply.message();
    json.writeObjectFieldStart("message");
    json.writeStringField("role", "assistant");
    json.writeStringField("content", message.content());
    json.writeNullField("refusal");
    if (reasoning && message.reasoning() != null) {
      json.writeStringField(REASONING, message.reasoning());
    }
    if (!message.toolCalls().isEmpty()) {
      json.writeArrayFieldStart("tool_calls");
      for (ToolCall call : message.toolCalls()) {
        json.writeStartObject();
        call(json, call);
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    json.writeEndObject();
    logprobs(json, reply.logprobs());
    style.generated(json, reply.ids());
  }

  @Override
  void shared(JsonGenerator json, PromptTokens prompt) throws IOException {
    style.prompt(json, prompt);
  }

  private void call(JsonGenerator json, ToolCall call) throws IOException {
    json.writeStringField("id", call.id());
    if (custom.contains(call.name())) {
      json.writeStringField("type", "custom");
      json.writeObjectFieldStart("custom");
      json.writeStringField("name", call.name());
      json.writeStringField("input", CustomTools.input(call.arguments()));
      json.writeEndObject();
      return;
    }
    json.writeStringField("type", "function");
    json.writeObjectFieldStart("function");
    json.writeStringField("name", call.name());
    json.writeStringField("arguments", call.arguments());
    json.writeEndObject();
  }

  /** The first piece has only the role, like OpenAI's: clients may ignore the first piece. */
  @Override
  byte[] opening(int choice, TurnPart part, Json.Fields usage) {
    return chunk(
        choice,
        json -> {
          json.writeObjectFieldStart("delta");
          json.writeStringField("role", "assistant");
          json.writeStringField("content", part.isContent() ? "" : null);
          json.writeEndObject();
          logprobs(json, List.of());
        },
        null,
        null,
        usage,
        null);
  }

  @Override
  void delta(JsonGenerator json, int index, TurnPiece next) throws IOException {
    TurnPart part = next.part();
    json.writeObjectFieldStart("delta");
    if (part.isContent() && next.shows()) {
      json.writeStringField("content", next.text());
    }
    if (part.isReasoning()) {
      if (reasoning) {
        json.writeStringField(REASONING, next.text());
      }
    } else if (!part.isContent()) {
      callDelta(json, part, next.text());
    }
    json.writeEndObject();
    logprobs(json, next.logprobs());
    style.generated(json, next.ids());
  }

  /**
   * Writes the first piece of a call, with its id and the function's name, or a further piece of
   * its arguments.
   */
  private void callDelta(JsonGenerator json, TurnPart part, String text) throws IOException {
    json.writeArrayFieldStart("tool_calls");
    json.writeStartObject();
    json.writeNumberField("index", part.index());
    if (part.opensCall()) {
      call(json, new ToolCall(part.id(), text, ""));
    } else {
      boolean isCustom = customCalls.contains(part.id());
      json.writeObjectFieldStart(isCustom ? "custom" : "function");
      json.writeStringField(
          isCustom ? "input" : "arguments", isCustom ? CustomTools.input(text) : text);
      json.writeEndObject();
    }
    json.writeEndObject();
    json.writeEndArray();
  }

  private void logprobs(JsonGenerator json, List<TokenLogprob> tokens) throws IOException {
    if (tokens.isEmpty()) {
      json.writeNullField("logprobs");
      return;
    }
    json.writeObjectFieldStart("logprobs");
    json.writeArrayFieldStart("content");
    for (TokenLogprob token : tokens) {
      json.writeStartObject();
      token(json, token.id(), token.token(), token.bytes(), token.logprob());
      json.writeArrayFieldStart("top_logprobs");
      if (token.top() != null) {
        for (TopLogprob top : token.top()) {
          json.writeStartObject();
          token(json, top.id(), top.token(), top.bytes(), top.logprob());
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

  private void token(JsonGenerator json, int id, String text, List<Integer> bytes, float logprob)
      throws IOException {
    json.writeStringField("token", style.name(id, TokenText.shown(text, bytes)));
    json.writeNumberField("logprob", logprob);
    json.writeArrayFieldStart("bytes");
    for (byte each : TokenText.bytes(text, bytes)) {
      json.writeNumber(each & 0xff);
    }
    json.writeEndArray();
  }
}
