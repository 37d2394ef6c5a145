package io.radixflow.operators.prompt;

import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.template.TemplateOptions;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;

/**
 * Takes the place of the chat template for a turn whose prompt is a text as it is: special tokens
 * are recognised in it, since all of it is its sender's, and BOS comes before it if the tokenizer
 * adds that. Immutable; for many threads.
 */
public final class RawTemplate implements ChatTemplate {
  private final Tokenizer tokenizer;
  private final int[] start;

  public RawTemplate(ServedModel model) {
    this.tokenizer = model.tokenizer();
    this.start = model.promptStart();
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
    int[] text = tokenizer.encodeWithSpecial(render(messages, addGenerationPrompt, options));
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
