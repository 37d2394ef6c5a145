package io.radixflow.lab.drill.http;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/** The content and the calls of a reply, as they come. */
final class HeardReply {
  private final StringBuilder text = new StringBuilder();
  private final List<ToolCall> calls = new ArrayList<>();

  /** All pieces in the order in which they came, so that two streams can be compared. */
  private final StringBuilder all = new StringBuilder();

  /** Reads the message of a chat completion. */
  static HeardReply ofMessage(JsonNode message) {
    HeardReply reply = new HeardReply();
    reply.chunk(message);
    return reply;
  }

  /** Reads the output of a response. */
  static HeardReply ofOutput(JsonNode output) {
    HeardReply reply = new HeardReply();
    for (JsonNode item : output) {
      for (JsonNode part : item.path("content")) {
        reply.content(part.path("text").asText());
      }
      reply.open(item);
      reply.arguments(reply.calls.size() - 1, item.path("arguments").asText(""));
    }
    return reply;
  }

  /** Adds the message of a chat completion, or a delta of it. */
  void chunk(JsonNode delta) {
    content(delta.path("content").asText(""));
    int index = 0;
    for (JsonNode call : delta.path("tool_calls")) {
      int at = call.path("index").asInt(index++);
      if (call.hasNonNull("id")) {
        add(call.path("id").asText(), call.at("/function/name").asText());
      }
      arguments(at, call.at("/function/arguments").asText(""));
    }
  }

  void content(String piece) {
    text.append(piece);
    all.append(piece);
  }

  /** Called when an item of a response begins; opens a call if the item is one. */
  void open(JsonNode item) {
    if (item.path("type").asText().equals("function_call")) {
      add(item.path("call_id").asText(), item.path("name").asText());
    }
  }

  private void add(String id, String name) {
    calls.add(new ToolCall(id, name, ""));
    all.append('\n').append(id).append(' ').append(name).append(' ');
  }

  /** Adds a piece of the last call's arguments. */
  void arguments(String piece) {
    arguments(calls.size() - 1, piece);
  }

  private void arguments(int index, String piece) {
    if (!piece.isEmpty()) {
      ToolCall call = calls.get(index);
      calls.set(index, new ToolCall(call.id(), call.name(), call.arguments() + piece));
      all.append(piece);
    }
  }

  String text() {
    return text.toString();
  }

  List<ToolCall> calls() {
    return List.copyOf(calls);
  }

  String all() {
    return all.toString();
  }

  /** Returns whether another reply has equal parts. */
  boolean matches(HeardReply other) {
    return text().equals(other.text()) && calls.equals(other.calls);
  }

  /** Returns whether each part of this reply is a prefix of the other reply's part. */
  boolean isPrefixOf(HeardReply other) {
    return Heard.isPrefix(text(), calls, other.text(), other.calls);
  }
}
