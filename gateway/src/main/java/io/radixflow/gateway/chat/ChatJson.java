package io.radixflow.gateway.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
  ObjectNode message(int index, TurnMessage reply) {
    Message message = reply.message();
    ObjectNode choice = Json.object();
    ObjectNode json = choice.putObject("message").put("role", "assistant");
    json.put("content", message.content()).putNull("refusal");
    if (reasoning && message.reasoning() != null) {
      json.put(REASONING, message.reasoning());
    }
    if (!message.toolCalls().isEmpty()) {
      ArrayNode calls = json.putArray("tool_calls");
      message.toolCalls().forEach(call -> addCall(calls.addObject(), call));
    }
    return withTokens(choice, reply.logprobs(), reply.ids());
  }

  private ObjectNode withTokens(ObjectNode choice, List<TokenLogprob> logprobs, List<Integer> ids) {
    choice.set("logprobs", logprobs(logprobs));
    style.addIds(choice, ids);
    return choice;
  }

  @Override
  void addPrompt(ObjectNode json, PromptTokens prompt) {
    style.addPrompt(json, prompt);
  }

  private void addCall(ObjectNode json, ToolCall call) {
    boolean isCustom = custom.contains(call.name());
    String type = isCustom ? "custom" : "function";
    json.put("id", call.id()).put("type", type).putObject(type).put("name", call.name());
    addArguments(json, isCustom, call.arguments());
  }

  private static void addArguments(ObjectNode call, boolean isCustom, String text) {
    if (isCustom) {
      call.withObject("/custom").put("input", CustomTools.input(text));
    } else {
      call.withObject("/function").put("arguments", text);
    }
  }

  /** The first piece has only the role, like OpenAI's: clients may ignore the first piece. */
  @Override
  ObjectNode opening(int choice, TurnPart part) {
    ObjectNode fields = Json.object();
    ObjectNode delta = fields.putObject("delta").put("role", "assistant");
    delta.put("content", part.isContent() ? "" : null);
    return chunk(choice, fields.putNull("logprobs"), null);
  }

  @Override
  ObjectNode delta(int index, TurnPiece next) {
    TurnPart part = next.part();
    ObjectNode choice = Json.object();
    ObjectNode delta = choice.putObject("delta");
    if (part.isContent() && next.shows()) {
      delta.put("content", next.text());
    } else if (part.isReasoning() && reasoning) {
      delta.put(REASONING, next.text());
    } else if (part.index() >= 0) {
      addCallDelta(delta.putArray("tool_calls").addObject(), part, next.text());
    }
    return withTokens(choice, next.logprobs(), next.ids());
  }

  /**
   * Writes the first piece of a call, with its id and the function's name, or a further piece of
   * its arguments.
   */
  private void addCallDelta(ObjectNode json, TurnPart part, String text) {
    json.put("index", part.index());
    if (part.opensCall()) {
      addCall(json, new ToolCall(part.id(), text, ""));
    } else {
      addArguments(json, customCalls.contains(part.id()), text);
    }
  }

  private JsonNode logprobs(List<TokenLogprob> tokens) {
    if (tokens.isEmpty()) {
      return NullNode.instance;
    }
    ObjectNode json = Json.object();
    ArrayNode content = json.putArray("content");
    for (TokenLogprob token : tokens) {
      ObjectNode one = content.addObject();
      addToken(one, token.id(), token.token(), token.bytes(), token.logprob());
      ArrayNode top = one.putArray("top_logprobs");
      if (token.top() != null) {
        for (TopLogprob other : token.top()) {
          addToken(top.addObject(), other.id(), other.token(), other.bytes(), other.logprob());
        }
      }
    }
    return json.putNull("refusal");
  }

  private void addToken(ObjectNode json, int id, String text, List<Integer> given, float logprob) {
    json.put("token", style.name(id, TokenText.shown(text, given))).put("logprob", logprob);
    ArrayNode bytes = json.putArray("bytes");
    for (byte each : TokenText.bytes(text, given)) {
      bytes.add(each & 0xff);
    }
  }
}
