package io.radixflow.lab.workload;

import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.engine.PromptException;
import io.radixflow.operators.prompt.CanonicalReply;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import java.util.List;

/** The ids that the job itself would make with a model's tokenizer and chat template. */
final class ModelTokens implements ConversationTokens {
  private static final int REPLY_RESERVE = 512;
  private static final int[] NONE = {};

  private final ServedModel model;
  private final CanonicalReply canonical;
  private final PromptAssembly.Window window;

  ModelTokens(ServedModel model) {
    this.model = model;
    this.canonical = new CanonicalReply(model);
    int context = model.config().contextLength();
    this.window =
        new PromptAssembly.Window(
            context, Math.min(REPLY_RESERVE, context / 4), Integer.MAX_VALUE, true);
  }

  @Override
  public Prompt prompt(Conversation conversation, List<Message> added, int dropped)
      throws PromptException {
    PromptAssembly assembly =
        new PromptAssembly(
            model.tokenizer(),
            model.chatTemplate(),
            conversation,
            added,
            PromptOptions.NONE,
            window);
    assembly.ids();
    return assembly.prompt();
  }

  @Override
  public int[] reply(String text) {
    return canonical.ids(NONE, text);
  }

  @Override
  public String note() {
    return "prompts are made with the tokenizer and chat template of " + model.name();
  }
}
