package io.radixflow.text.prompt;

import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.Message;
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

  /**
   * @param start the ids before a text, see {@link io.radixflow.text.TextModel#promptStart}
   */
  public RawTemplate(Tokenizer tokenizer, int[] start) {
    this(tokenizer, start, Integer.MAX_VALUE);
  }

  private RawTemplate(Tokenizer tokenizer, int[] start, int most) {
    this.tokenizer = tokenizer;
    this.start = start;
    this.most = most;
  }

  /**
   * Returns the template of a turn with these options.
   *
   * @param addSpecialTokens whether BOS comes first if the tokenizer adds it; null for true
   * @param kept how many of the last ids remain; null for all
   */
  public RawTemplate with(Boolean addSpecialTokens, Integer kept) {
    boolean bare = Boolean.FALSE.equals(addSpecialTokens);
    return bare || kept != null
        ? new RawTemplate(tokenizer, bare ? new int[0] : start, kept == null ? most : kept)
        : this;
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    StringBuilder text = new StringBuilder();
    messages.forEach(message -> text.append(message.content()));
    return text.toString();
  }

  @Override
  public int[] encode(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    int[] ids = ids(messages);
    return Arrays.copyOfRange(ids, Math.max(0, ids.length - most), ids.length);
  }

  private int[] ids(List<Message> messages) {
    int[] given = Message.promptIds(messages);
    if (given != null) {
      return given;
    }
    int[] text = tokenizer.encodeWithSpecial(render(messages, false, TemplateOptions.NONE));
    int[] ids = Arrays.copyOf(start, start.length + text.length);
    System.arraycopy(text, 0, ids, start.length, text.length);
    return ids;
  }

  @Override
  public int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options) {
    return null;
  }
}
