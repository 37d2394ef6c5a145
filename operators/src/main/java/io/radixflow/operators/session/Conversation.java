package io.radixflow.operators.session;

import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An immutable view of one branch, from which another thread makes a prompt.
 *
 * @param system system prompt, or null
 * @param depth turns of the branch, including turns that were dropped and forgotten
 * @param path the branch's kept turns, oldest first, without gaps
 */
public record Conversation(String system, int depth, List<Turn> path) {

  public Conversation {
    path = List.copyOf(path);
  }

  public static Conversation of(String system, List<Turn> path) {
    return new Conversation(
        system, path.isEmpty() ? 0 : path.get(path.size() - 1).depth() + 1, path);
  }

  /** Returns how many of the oldest turns the branch's prompts leave out. */
  public int dropped() {
    return path.isEmpty()
        ? depth
        : Math.max(path.get(path.size() - 1).dropped(), path.get(0).depth());
  }

  /** Returns whether the conversation has no text for a prompt. */
  public boolean isEmpty() {
    return path.isEmpty() && system == null;
  }

  /** Returns the messages of a prompt that leaves out the {@code dropped} oldest turns. */
  public List<Message> messages(int dropped, List<Message> added) {
    List<Message> messages = new ArrayList<>();
    if (system != null) {
      messages.add(new Message("system", system));
    }
    for (Turn turn : path) {
      if (turn.depth() >= dropped) {
        messages.addAll(turn.messages());
        if (turn.reply() != null) {
          messages.add(turn.reply());
        }
      }
    }
    messages.addAll(added);
    return messages;
  }

  /** Returns the conversation up to its last reply. */
  public Conversation answered() {
    int end = path.size();
    while (end > 0 && path.get(end - 1).reply() == null) {
      end--;
    }
    return end == path.size() ? this : new Conversation(system, depth, path.subList(0, end));
  }

  /** Returns the messages after the last reply; they were appended without a reply. */
  public List<Message> unanswered() {
    return path.subList(answered().path().size(), path.size()).stream()
        .flatMap(turn -> turn.messages().stream())
        .toList();
  }

  /**
   * Returns the {@link PromptOptions#identity} of the last reply's prompt; empty without a reply.
   */
  public String variant() {
    Conversation answered = answered();
    return answered.path.isEmpty() ? "" : answered.path.get(answered.path.size() - 1).variant();
  }

  /**
   * Returns the canonical ids of the branch up to the end-of-turn id of its last reply.
   *
   * @param tokenizer fingerprint of the tokenizer in use
   * @return null if there are none, or if they belong to another tokenizer
   */
  public int[] canonicalIds(String tokenizer) {
    List<Turn> replied = path.stream().filter(turn -> turn.reply() != null).toList();
    int first = replied.size() - 1;
    while (first >= 0 && replied.get(first).keep() > 0) {
      first--;
    }
    if (first < 0) {
      return null;
    }
    int[] ids = {};
    for (Turn turn : replied.subList(first, replied.size())) {
      if (!turn.tokenizer().equals(tokenizer) || turn.keep() > ids.length) {
        return null;
      }
      int[] next = Arrays.copyOf(ids, turn.keep() + turn.ids().length);
      System.arraycopy(turn.ids(), 0, next, turn.keep(), turn.ids().length);
      ids = next;
    }
    return ids;
  }
}
