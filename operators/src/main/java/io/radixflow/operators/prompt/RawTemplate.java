package io.radixflow.operators.prompt;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.protocol.record.Message;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.template.ChatMessage;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;

/**
 * Replaces the chat template for a turn whose prompt is a raw text or token ids. Special tokens in
 * the text are recognised, because the sender wrote the whole text. BOS is added before the text if
 * the tokenizer adds BOS. Immutable and thread-safe.
 */
public final class RawTemplate implements ChatTemplate {
  private final Tokenizer tokenizer;
  private final int[] start;
  private final int most;

  public RawTemplate(ServedModel model) {
    this(model.tokenizer(), model.promptStart(), Integer.MAX_VALUE);
  }

  private RawTemplate(Tokenizer tokenizer, int[] start, int most) {
    this.tokenizer = tokenizer;
    this.start = start;
    this.most = most;
  }

  /** Returns the template of a turn with these options. */
  public RawTemplate with(TokenOptions options) {
    boolean bare = Boolean.FALSE.equals(options.addSpecialTokens());
    Integer kept = options.truncatePromptTokens();
    return bare || kept != null
        ? new RawTemplate(tokenizer, bare ? new int[0] : start, kept == null ? most : kept)
        : this;
  }

  @Override
  public String render(
      List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options) {
    StringBuilder text = new StringBuilder();
    messages.forEach(message -> text.append(message.content()));
    return text.toString();
  }

  @Override
  public int[] encode(
      List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options) {
    int[] ids = ids(messages);
    return Arrays.copyOfRange(ids, Math.max(0, ids.length - most), ids.length);
  }

  private int[] ids(List<ChatMessage> messages) {
    if (messages.size() == 1 && messages.get(0).role().equals(Message.PROMPT_IDS)) {
      return Message.ids(messages.get(0).content());
    }
    int[] text = tokenizer.encodeWithSpecial(render(messages, false, TemplateOptions.NONE));
    int[] ids = Arrays.copyOf(start, start.length + text.length);
    System.arraycopy(text, 0, ids, start.length, text.length);
    return ids;
  }

  @Override
  public int[] encodeTurn(
      List<ChatMessage> before, List<ChatMessage> added, TemplateOptions options) {
    return null;
  }
}
