package io.radixflow.lab.workload;

import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import java.util.Arrays;
import java.util.List;

/**
 * Takes each four characters of a message for a token, whose id is their hash. Equal beginnings
 * have equal ids, as with a tokenizer; lengths are right for English text to about a quarter.
 */
final class ApproximateTokens implements ConversationTokens {
  private static final int CHARACTERS = 4;
  private static final String NAME = "four characters";
  private static final String ASSISTANT = "assistant";

  @Override
  public Prompt prompt(Conversation conversation, List<Message> added, int dropped) {
    int[] before = conversation.canonicalIds(NAME);
    if (before == null || dropped > conversation.dropped()) {
      Ids ids = new Ids();
      for (ChatMessage message : conversation.messages(dropped, added)) {
        ids.message(message.role(), message.content());
      }
      return prompt(ids, 0, dropped);
    }
    Ids ids = new Ids();
    ids.append(before);
    added.forEach(message -> ids.message(message.role(), message.content()));
    return prompt(ids, before.length, conversation.dropped());
  }

  private static Prompt prompt(Ids ids, int keep, int dropped) {
    ids.header(ASSISTANT);
    return new Prompt(ids.toArray(), keep, dropped, NAME);
  }

  @Override
  public int[] reply(String text) {
    Ids ids = new Ids();
    ids.text(text);
    return ids.toArray();
  }

  @Override
  public String note() {
    return "a token is taken to be " + NAME + "; name a --model for exact prompts";
  }

  /** Ids as they grow. */
  private static final class Ids {
    private int[] ids = new int[64];
    private int size;

    void message(String role, String content) {
      header(role);
      text(content);
    }

    void header(String role) {
      text(role + "\n");
    }

    /** Ends the last token with the text, so that what follows does not change it. */
    void text(String text) {
      for (int from = 0; from < text.length(); from += CHARACTERS) {
        int id = 1;
        for (int i = from; i < Math.min(text.length(), from + CHARACTERS); i++) {
          id = 0x0100_0193 * (id ^ text.charAt(i));
        }
        ensure(size + 1);
        ids[size++] = id;
      }
    }

    void append(int[] more) {
      ensure(size + more.length);
      System.arraycopy(more, 0, ids, size, more.length);
      size += more.length;
    }

    private void ensure(int length) {
      if (length > ids.length) {
        ids = Arrays.copyOf(ids, Math.max(length, 2 * ids.length));
      }
    }

    int[] toArray() {
      return Arrays.copyOf(ids, size);
    }
  }
}
