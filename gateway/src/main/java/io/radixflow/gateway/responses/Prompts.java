package io.radixflow.gateway.responses;

import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;

/** Combines messages of a request and of a history. */
final class Prompts {

  private Prompts() {}

  /**
   * Returns messages under a system prompt.
   *
   * @param system the system prompt, or null
   */
  static List<Message> under(String system, List<Message> messages) {
    return system == null ? messages : and(List.of(new Message("system", system)), messages);
  }

  /** Returns two lists of messages as one list. */
  static List<Message> and(List<Message> before, List<Message> after) {
    List<Message> all = new ArrayList<>(before);
    all.addAll(after);
    return all;
  }

  /**
   * Returns the messages of a branch, without the session's system prompt.
   *
   * @param turn the last turn to include, or null for all turns
   */
  static List<Message> upTo(List<Reply.Item> items, String turn) {
    List<Message> messages = new ArrayList<>();
    boolean within = false;
    for (Reply.Item item : items) {
      if (within && !turn.equals(item.turn())) {
        break;
      }
      within = turn != null && turn.equals(item.turn());
      Message message = item.message();
      boolean says = message.content() != null && !message.content().isEmpty();
      boolean answers = message.toolCallId() != null || !message.toolCalls().isEmpty();
      if (item.turn() != null && (says || answers)) {
        messages.add(message);
      }
    }
    return messages;
  }

  /** Returns the last system prompt in a history, or null. */
  static String lastSystem(List<Reply.Item> items) {
    String system = null;
    for (Reply.Item item : items) {
      if (item.role().equals("system")) {
        system = item.content();
      }
    }
    return system;
  }
}
