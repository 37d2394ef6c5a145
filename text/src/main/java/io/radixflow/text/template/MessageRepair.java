package io.radixflow.text.template;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Changes a conversation that a chat template rejects. Otherwise the conversation would always be
 * rejected, because its client can only send it again.
 */
final class MessageRepair {
  private final List<Message> changed = new ArrayList<>();
  private final Map<String, String> functions = new HashMap<>();
  private final Deque<String> unanswered = new ArrayDeque<>();

  private MessageRepair() {}

  /**
   * Returns the conversation with roles in the order that most templates require.
   *
   * <p>A system message after the first message becomes a user message, and so do messages of
   * unknown roles and results without a call. Consecutive user messages are joined into one, and so
   * are consecutive assistant messages. An empty assistant message is dropped. A result gets the id
   * and the name of its call. If an assistant message has reasoning, content and calls, its
   * reasoning becomes part of its content.
   */
  static List<Message> roles(List<Message> messages) {
    MessageRepair repair = new MessageRepair();
    messages.forEach(repair::addWithRole);
    return repair.changed;
  }

  /**
   * Returns the conversation as alternating messages of the user and the assistant. The system's
   * messages are put at the start of the user's first message. Calls and results become text.
   */
  static List<Message> plain(List<Message> messages) {
    MessageRepair repair = new MessageRepair();
    for (Message message : roles(messages)) {
      String role = message.role().equals("assistant") ? "assistant" : "user";
      StringBuilder text = new StringBuilder(message.content() == null ? "" : message.content());
      for (ToolCall call : message.toolCalls()) {
        text.append(text.isEmpty() ? "" : "\n")
            .append("{\"name\": ")
            .append(JsonValues.write(call.name()))
            .append(", \"arguments\": ")
            .append(call.arguments())
            .append('}');
      }
      repair.add(new Message(role, text.toString(), null, null, null, message.reasoning()));
    }
    if (!repair.changed.isEmpty() && repair.changed.get(0).role().equals("assistant")) {
      repair.changed.add(0, new Message("user", ""));
    }
    return repair.changed;
  }

  private void addWithRole(Message message) {
    for (ToolCall call : message.toolCalls()) {
      functions.put(call.id(), call.name());
      unanswered.add(call.id());
    }
    boolean instructs = message.role().equals("system") || message.role().equals("developer");
    if (message.role().equals("tool") && !functions.isEmpty()) {
      add(answer(message));
    } else if (message.role().equals("assistant")) {
      boolean says = message.content() != null && !message.content().isEmpty();
      if (says || !message.toolCalls().isEmpty()) {
        add(says && !message.toolCalls().isEmpty() ? withThought(message) : message);
      }
    } else if (message.role().equals("user") || instructs && changed.isEmpty()) {
      add(message);
    } else {
      add(new Message("user", message.content()));
    }
  }

  private Message answer(Message result) {
    String id = result.toolCallId() == null ? unanswered.peek() : result.toolCallId();
    unanswered.remove(id);
    String name = result.name() == null ? functions.get(id) : result.name();
    return new Message("tool", result.content(), name, List.of(), id, null);
  }

  private static Message withThought(Message message) {
    String said = join(message.reasoning(), message.content());
    return with(message, said, message.toolCalls(), null);
  }

  private void add(Message message) {
    int last = changed.size() - 1;
    boolean joins = message.role().equals("user") || message.role().equals("assistant");
    if (!joins || last < 0 || !changed.get(last).role().equals(message.role())) {
      changed.add(message);
      return;
    }
    Message before = changed.get(last);
    List<ToolCall> calls = new ArrayList<>(before.toolCalls());
    calls.addAll(message.toolCalls());
    changed.set(
        last,
        with(
            before,
            join(before.content(), message.content()),
            calls,
            join(before.reasoning(), message.reasoning())));
  }

  private static String join(String first, String next) {
    if (first == null || first.isEmpty()) {
      return next;
    }
    return next == null || next.isEmpty() ? first : first + "\n\n" + next;
  }

  private static Message with(
      Message message, String content, List<ToolCall> calls, String reasoning) {
    return new Message(
        message.role(), content, message.name(), calls, message.toolCallId(), reasoning);
  }
}
