package io.radixflow.text.template;

import java.util.List;

/** The chat template of a model that has none. It rejects every conversation and says why. */
public final class MissingChatTemplate implements ChatTemplate {

  private static ChatTemplateException failure() {
    return new ChatTemplateException(
        "the model has no chat template, so it cannot be used for conversations; use an instruct or"
            + " chat variant of it");
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    throw failure();
  }

  @Override
  public int[] encode(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    throw failure();
  }

  @Override
  public int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options) {
    throw failure();
  }
}
