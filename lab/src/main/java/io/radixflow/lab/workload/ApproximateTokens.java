package io.radixflow.lab.workload;

import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.text.template.Message;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Treats every four characters of a message as a token, whose id is their hash. Equal beginnings
 * have equal ids, as with a tokenizer. For English text the lengths are right within about a
 * quarter.
 */
final class ApproximateTokens implements ConversationTokens {
  private static final int CHARACTERS = 4;
  private static final String NAME = "four characters";
  private static final String ASSISTANT = "assistant";

  @Override
  public Prompt prompt(Conversation conversation, List<Message> added, int dropped) {
    IntStream.Builder ids = IntStream.builder();
    int[] before = conversation.canonicalIds(NAME);
    boolean again = before == null || dropped > conversation.dropped();
    if (again) {
      for (Message message : conversation.messages(dropped, added)) {
        add(ids, message.role(), message.content());
      }
    } else {
      Arrays.stream(before).forEach(ids::add);
      added.forEach(message -> add(ids, message.role(), message.content()));
    }
    add(ids, ASSISTANT, "");
    int keep = again ? 0 : before.length;
    return new Prompt(ids.build().toArray(), keep, again ? dropped : conversation.dropped(), NAME);
  }

  private static void add(IntStream.Builder ids, String role, String content) {
    add(ids, role + "\n");
    add(ids, content);
  }

  /** Ends the last token with the text, so that later text does not change it. */
  private static void add(IntStream.Builder ids, String text) {
    for (int from = 0; from < text.length(); from += CHARACTERS) {
      int id = 1;
      for (int i = from; i < Math.min(text.length(), from + CHARACTERS); i++) {
        id = 0x0100_0193 * (id ^ text.charAt(i));
      }
      ids.add(id);
    }
  }

  @Override
  public int[] reply(String text) {
    IntStream.Builder ids = IntStream.builder();
    add(ids, text);
    return ids.build().toArray();
  }

  @Override
  public String note() {
    return "a token is taken to be " + NAME + "; name a --model for exact prompts";
  }
}
