package io.radixflow.kernels.sim;

import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.template.ChatTemplateException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** ChatML: {@code <|im_start|>role\ncontent<|im_end|>\n}. */
final class SimChatTemplate implements ChatTemplate {
  private static final Set<String> ROLES = Set.of("system", "user", "assistant", "tool");
  private static final String OPENING = "assistant\n";

  private final SimTokenizer tokenizer;

  SimChatTemplate(SimTokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  @Override
  public String render(List<ChatMessage> messages, boolean addGenerationPrompt) {
    StringBuilder text = new StringBuilder();
    for (ChatMessage message : messages) {
      text.append("<|im_start|>").append(body(message)).append("<|im_end|>\n");
    }
    return addGenerationPrompt
        ? text.append("<|im_start|>").append(OPENING).toString()
        : text.toString();
  }

  @Override
  public int[] encode(List<ChatMessage> messages, boolean addGenerationPrompt) {
    IdList ids = new IdList();
    appendAll(ids, messages, addGenerationPrompt);
    return ids.toArray();
  }

  @Override
  public int[] encodeTurn(List<ChatMessage> before, List<ChatMessage> added) {
    IdList ids = new IdList();
    ids.add('\n');
    appendAll(ids, added, true);
    return ids.toArray();
  }

  private void appendAll(IdList ids, List<ChatMessage> messages, boolean addGenerationPrompt) {
    for (ChatMessage message : messages) {
      ids.add(SimTokenizer.START);
      ids.addAll(tokenizer.encode(body(message)));
      ids.add(SimTokenizer.END);
      ids.add('\n');
    }
    if (addGenerationPrompt) {
      ids.add(SimTokenizer.START);
      ids.addAll(tokenizer.encode(OPENING));
    }
  }

  private static String body(ChatMessage message) {
    if (message.role() == null || !ROLES.contains(message.role())) {
      throw new ChatTemplateException("role " + message.role() + " is not one of " + ROLES);
    }
    return message.role() + "\n" + message.content();
  }

  private static final class IdList {
    private int[] ids = new int[64];
    private int size;

    void add(int id) {
      if (size == ids.length) {
        ids = Arrays.copyOf(ids, 2 * size);
      }
      ids[size++] = id;
    }

    void addAll(int[] more) {
      for (int id : more) {
        add(id);
      }
    }

    int[] toArray() {
      return Arrays.copyOf(ids, size);
    }
  }
}
