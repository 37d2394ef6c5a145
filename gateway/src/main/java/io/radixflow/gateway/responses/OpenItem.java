package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.client.TurnPart;
import io.radixflow.gateway.api.CustomTools;
import io.radixflow.gateway.turn.TurnMessage;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/** An output item of a streamed response: a message, a call, or reasoning. */
final class OpenItem {

  private static final String REASONING = "response.reasoning_text";
  private static final String TEXT = "response.output_text";
  private static final String ARGUMENTS = "response.function_call_arguments";
  private static final String INPUT = "response.custom_tool_call_input";

  /** The item's content so far. */
  final TurnMessage message = new TurnMessage();

  private final TurnPart part;
  private final int index;
  private final String id;
  private final String name;
  private final boolean custom;

  /**
   * @param index the item's index among the output items
   * @param part the first part of the item
   * @param nth how many items of text, or of reasoning, precede this item; 0 for a call
   * @param name name of the function, if the item is a call
   */
  OpenItem(ResponseRecord response, int index, TurnPart part, int nth, String name) {
    this.part = part;
    this.index = index;
    this.name = name;
    this.custom = part.index() >= 0 && response.settings().custom().contains(name);
    this.id = ResponseIds.part(response.turn(), ResponseIds.REPLY, part, nth);
  }

  /**
   * Returns whether a piece continues this item. Name and arguments of a call belong to the same
   * item.
   */
  boolean takes(TurnPart next) {
    return part.index() == next.index() && part.isReasoning() == next.isReasoning();
  }

  /** Returns whether the item has a content part. A call does not have one. */
  boolean hasContent() {
    return part.index() < 0;
  }

  /**
   * Returns whether the item's text is sent only when it is whole. The input of a custom tool is,
   * because the model writes it within JSON arguments.
   */
  boolean isHeld() {
    return custom;
  }

  /** Returns the input of a custom tool. */
  String input() {
    return CustomTools.input(arguments());
  }

  private String text() {
    return part.isContent()
        ? message.content()
        : part.isReasoning() ? message.reasoning() : arguments();
  }

  private String arguments() {
    List<ToolCall> calls = message.calls();
    return calls.isEmpty() ? "" : calls.get(calls.size() - 1).arguments();
  }

  ObjectNode begun() {
    if (part.isContent()) {
      ObjectNode begun = ResponseJson.message(id, "assistant", "in_progress");
      begun.putArray("content");
      return begun;
    }
    return item("", "in_progress");
  }

  ObjectNode ended(String status) {
    return item(text(), status);
  }

  private ObjectNode item(String text, String status) {
    if (part.isContent()) {
      return ResponseJson.said(id, "assistant", status, text, message.logprobs());
    }
    return part.isReasoning()
        ? ResponseJson.reasoning(id, text, status)
        : ResponseJson.call(id, new ToolCall(part.id(), name, text), status, custom);
  }

  /** Returns the events that end the item's text. */
  List<ObjectNode> done() {
    List<ObjectNode> events = new ArrayList<>();
    String text = text();
    if (custom) {
      events.add(event(".done").put("input", input()));
      return events;
    }
    if (!hasContent()) {
      events.add(event(".done").put("name", name).put("arguments", text));
      return events;
    }
    ObjectNode done = event(".done").put("text", text);
    if (part.isContent()) {
      done.set("logprobs", ResponseJson.logprobs(message.logprobs(), false));
    }
    events.add(done);
    ObjectNode whole = content("response.content_part.done");
    whole.set("part", ResponseJson.part(part, text, message.logprobs()));
    events.add(whole);
    return events;
  }

  /** Begins an event about the item's text. */
  ObjectNode event(String suffix) {
    if (!hasContent()) {
      return event(custom ? INPUT : ARGUMENTS, suffix);
    }
    return event(part.isReasoning() ? REASONING : TEXT, suffix).put("content_index", 0);
  }

  private ObjectNode event(String type, String suffix) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("type", type + suffix)
        .put("item_id", id)
        .put("output_index", index);
  }

  /** Begins an event about the item's content part. */
  ObjectNode content(String type) {
    return event(type, "").put("content_index", 0);
  }

  /** Writes an event with the whole item. */
  ObjectNode whole(String type, ObjectNode item) {
    ObjectNode event = JsonNodeFactory.instance.objectNode().put("type", type);
    event.put("output_index", index).set("item", item);
    return event;
  }
}
