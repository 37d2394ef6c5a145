package io.radixflow.protocol.event;

import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;

/** Joins texts, thoughts and calls that follow each other into the message of one speaker. */
public final class MessageList {

  private final String between;
  private final List<Message> messages = new ArrayList<>();

  /** The speaker of the open message; null if no message is open. */
  private String role;

  private final List<String> texts = new ArrayList<>();
  private final List<String> thoughts = new ArrayList<>();
  private final List<ToolCall> calls = new ArrayList<>();

  /**
   * @param between the text between two texts of one message
   */
  public MessageList(String between) {
    this.between = between;
  }

  /** Adds a text that is not empty; returns whether it did. */
  public boolean addText(String speaker, String text) {
    return !text.isEmpty() && open(speaker) && texts.add(text);
  }

  /** Adds what the assistant thought, if it is not empty. */
  public void addThought(String text) {
    if (!text.isEmpty()) {
      open("assistant");
      thoughts.add(text);
    }
  }

  /** Adds a call of the assistant. */
  public void addCall(ToolCall call) {
    open("assistant");
    calls.add(call);
  }

  /** Ends the open message, and adds another one. */
  public void add(Message message) {
    end();
    messages.add(message);
  }

  private boolean open(String speaker) {
    if (!speaker.equals(role)) {
      end();
      role = speaker;
    }
    return true;
  }

  /** Returns the calls of the open message so far. */
  public int calls() {
    return calls.size();
  }

  /** Returns whether the open message has a text or a call. */
  public boolean says() {
    return !texts.isEmpty() || !calls.isEmpty();
  }

  /** Ends the open message, if there is one. */
  public void end() {
    if (role != null) {
      String content = MessageReader.joined(texts, between);
      String thought = thoughts.isEmpty() ? null : MessageReader.joined(thoughts, "\n");
      boolean none = content.isEmpty() && !calls.isEmpty();
      messages.add(new Message(role, none ? null : content, null, calls, null, thought));
    }
    role = null;
    texts.clear();
    thoughts.clear();
    calls.clear();
  }

  /** Ends the open message, and returns all messages. */
  public List<Message> messages() {
    end();
    return messages;
  }
}
