package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.CustomTools;
import io.radixflow.gateway.api.UsageJson;
import io.radixflow.gateway.responses.ResponseRecord.Output;
import io.radixflow.gateway.responses.ResponseRecord.Status;
import io.radixflow.gateway.text.TokenText;
import io.radixflow.gateway.turn.ReplyBlock;
import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes responses, items and conversations in OpenAI's form. */
final class ResponseJson {

  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private ResponseJson() {}

  /** Writes a response object. */
  static ObjectNode response(ResponseRecord response) {
    ResponseSettings settings = response.settings();
    Output output = response.output();
    TurnEnd end = output.end();
    Status status = output.status();
    ObjectNode node = JSON.objectNode().put("id", response.id()).put("object", "response");
    node.put("created_at", settings.created()).put("status", name(status));
    boolean completed = status == Status.COMPLETED;
    node.put("completed_at", completed ? (Long) (end.completed() / 1000) : null);
    node.put("background", settings.background());
    boolean named = ResponseIds.isConversation(response.session());
    node.set("conversation", only("id", named ? response.session() : null));
    node.set("error", error(output.failure()));
    String reason = status == Status.INCOMPLETE ? "max_output_tokens" : null;
    node.set("incomplete_details", only("reason", reason));
    node.put("instructions", response.instructions());
    node.put("max_output_tokens", settings.maxOutputTokens()).putNull("max_tool_calls");
    ArrayNode items = node.put("model", settings.model()).putArray("output");
    if (hasItems(output)) {
      CustomCalls custom = new CustomCalls(settings.custom());
      items(response.turn(), ResponseIds.REPLY, output, custom).forEach(items::add);
    }
    node.put("service_tier", "default");
    ResponseOptions.put(node, response.options(), settings.custom());
    node.put("previous_response_id", settings.previous());
    node.put("prompt_cache_key", settings.promptCacheKey());
    node.put("prompt_cache_retention", settings.promptCacheRetention());
    node.put("safety_identifier", settings.safetyIdentifier()).put("store", settings.store());
    node.put("temperature", settings.temperature() == null ? 1.0 : settings.temperature());
    node.put("top_p", settings.topP() == null ? 1.0 : settings.topP());
    node.put("top_logprobs", settings.topLogprobs());
    node.put("truncation", settings.dropsOldest() ? "auto" : "disabled");
    boolean counted = end != null && end.usage() != null;
    node.set("usage", counted ? UsageJson.ofResponse(end.usage()) : JSON.nullNode());
    node.put("user", settings.user()).set("metadata", metadata(response.metadata()));
    if (end != null) {
      end.putWarnings(node);
    }
    return node;
  }

  /** Returns an object with one field; null without a value. */
  private static JsonNode only(String field, String value) {
    return value == null ? JSON.nullNode() : JSON.objectNode().put(field, value);
  }

  private static boolean hasItems(Output output) {
    return output.status() == Status.COMPLETED
        || output.status() == Status.INCOMPLETE
        || output.reply().length() > 0;
  }

  private static JsonNode error(ResponseRecord.Failure failure) {
    return failure == null
        ? JSON.nullNode()
        : JSON.objectNode().put("code", failure.code()).put("message", failure.message());
  }

  /**
   * Writes a message of a turn, or the turn's reply, as completed items.
   *
   * @param order order of the parts of a reply; see {@link ReplyBlock#of}
   * @param custom knows which calls are calls of custom tools; it has seen the earlier messages
   */
  static List<ObjectNode> items(
      String turn, int position, Message message, List<PartLength> order, CustomCalls custom) {
    Output whole = new Output(Status.COMPLETED, message, order, null, null);
    return items(turn, position, whole, custom);
  }

  /**
   * Writes a message of a turn, or the turn's reply, as items: reasoning, the message, and calls.
   * The result of a tool is an item of its own kind. Items before the last are complete.
   *
   * @param position index among the turn's messages, or {@link ResponseIds#REPLY}
   */
  private static List<ObjectNode> items(
      String turn, int position, Output output, CustomCalls custom) {
    Message message = output.reply();
    if (message.role().equals("tool")) {
      String type = custom.hasResult(message) ? "custom_tool_call_output" : "function_call_output";
      return List.of(result(ResponseIds.item(turn, position), type, message));
    }
    List<ReplyBlock> blocks = ReplyBlock.of(message, output.order());
    List<ObjectNode> items = new ArrayList<>();
    for (ReplyBlock block : blocks) {
      String until = items.size() + 1 == blocks.size() ? output.itemStatus() : "completed";
      String id = ResponseIds.part(turn, position, block.part(), block.nth());
      if (block.call() != null) {
        items.add(call(id, block.call(), until, custom.has(block.call())));
      } else if (block.part().isReasoning()) {
        items.add(reasoning(id, block.text(), until));
      } else {
        List<TokenLogprob> logprobs = block.nth() == 0 ? output.logprobs() : null;
        items.add(said(id, message.role(), until, block.text(), logprobs));
      }
    }
    if (items.isEmpty()) {
      String id = ResponseIds.item(turn, position);
      items.add(said(id, message.role(), output.itemStatus(), "", output.logprobs()));
    }
    return items;
  }

  /** Writes a message as an item. */
  static ObjectNode said(
      String id, String role, String status, String text, List<TokenLogprob> logprobs) {
    ObjectNode item = message(id, role, status);
    ArrayNode parts = item.putArray("content");
    if (role.equals("assistant")) {
      parts.add(outputText(text, logprobs));
    } else {
      parts.addObject().put("type", "input_text").put("text", text);
    }
    return item;
  }

  /** Writes the model's reasoning as an item. */
  static ObjectNode reasoning(String id, String text, String status) {
    ObjectNode item = JSON.objectNode().put("id", id).put("type", "reasoning");
    item.put("status", status).putArray("summary");
    ArrayNode content = item.putArray("content");
    if (!text.isEmpty()) {
      content.add(part(TurnPart.REASONING, text, null));
    }
    return item;
  }

  /**
   * Writes a call as an item.
   *
   * @param custom whether the call is a call of a custom tool instead of a function
   */
  static ObjectNode call(String id, ToolCall call, String status, boolean custom) {
    ObjectNode item =
        JSON.objectNode()
            .put("id", id)
            .put("type", custom ? "custom_tool_call" : "function_call")
            .put("status", status)
            .put("call_id", call.id())
            .put("name", call.name());
    return custom
        ? item.put("input", CustomTools.input(call.arguments()))
        : item.put("arguments", call.arguments());
  }

  private static ObjectNode result(String id, String type, Message message) {
    return JSON.objectNode()
        .put("id", id)
        .put("type", type)
        .put("status", "completed")
        .put("call_id", message.toolCallId() == null ? "" : message.toolCallId())
        .put("output", message.content() == null ? "" : message.content());
  }

  /**
   * Writes a content part of a message or of reasoning.
   *
   * @param logprobs log probabilities of its tokens, or null
   */
  static ObjectNode part(TurnPart part, String text, List<TokenLogprob> logprobs) {
    return part.isReasoning()
        ? JSON.objectNode().put("type", "reasoning_text").put("text", text)
        : outputText(text, logprobs);
  }

  /** Begins a message as an item. */
  static ObjectNode message(String id, String role, String status) {
    return JSON.objectNode()
        .put("id", id)
        .put("type", "message")
        .put("status", status)
        .put("role", role);
  }

  /** Writes a content part with generated text. */
  private static ObjectNode outputText(String text, List<TokenLogprob> logprobs) {
    ObjectNode part = JSON.objectNode().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    part.set("logprobs", logprobs(logprobs, true));
    return part;
  }

  /**
   * Writes log probabilities.
   *
   * @param bytes whether to write the bytes of tokens; a part has them, an event does not
   */
  static ArrayNode logprobs(List<TokenLogprob> logprobs, boolean bytes) {
    ArrayNode array = JSON.arrayNode();
    if (logprobs != null) {
      for (TokenLogprob token : logprobs) {
        ObjectNode node = array.addObject();
        put(node, token.token(), token.bytes(), token.logprob(), bytes);
        ArrayNode top = node.putArray("top_logprobs");
        if (token.top() != null) {
          for (TopLogprob other : token.top()) {
            put(top.addObject(), other.token(), other.bytes(), other.logprob(), bytes);
          }
        }
      }
    }
    return array;
  }

  private static void put(
      ObjectNode node, String token, List<Integer> given, float logprob, boolean withBytes) {
    node.put("token", TokenText.shown(token, given));
    node.put("logprob", logprob);
    if (withBytes) {
      ArrayNode bytes = node.putArray("bytes");
      for (byte b : TokenText.bytes(token, given)) {
        bytes.add(b & 0xFF);
      }
    }
  }

  /** Writes a conversation object. */
  static ObjectNode conversation(String id, Map<String, String> metadata) {
    ObjectNode node = JSON.objectNode().put("id", id).put("object", "conversation");
    node.put("created_at", ResponseIds.createdAt(id));
    node.set("metadata", metadata(metadata));
    return node;
  }

  /** Writes the confirmation that an object was deleted. */
  static ObjectNode deleted(String id, String object) {
    return JSON.objectNode().put("id", id).put("object", object).put("deleted", true);
  }

  private static ObjectNode metadata(Map<String, String> metadata) {
    ObjectNode node = JSON.objectNode();
    metadata.forEach(node::put);
    return node;
  }

  private static String name(Status status) {
    return status.name().toLowerCase(Locale.ROOT);
  }
}
