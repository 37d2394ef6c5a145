package io.radixflow.lab.workload;

import io.radixflow.engine.PromptException;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.operators.prompt.CanonicalReply;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.text.template.Message;
import java.util.List;

/** Converts conversations to token ids; equal beginnings have equal ids. */
interface ConversationTokens {
  /**
   * Returns the prompt of a turn.
   *
   * @param dropped number of oldest turns that the job left out, as its reply reports
   * @throws PromptException if no prompt can be made; the job would reject the turn
   */
  Prompt prompt(Conversation conversation, List<Message> added, int dropped) throws PromptException;

  /** Returns the ids of a reply in the next prompt, including its end. */
  int[] reply(String text);

  /** Describes how exact the ids are. */
  String note();

  /** Returns the ids that the job itself would make with a model's tokenizer and chat template. */
  static ConversationTokens of(ServedModel model) {
    CanonicalReply canonical = new CanonicalReply(model);
    int context = model.config().contextLength();
    PromptAssembly.Window window =
        new PromptAssembly.Window(context, Math.min(512, context / 4), Integer.MAX_VALUE, true);
    return new ConversationTokens() {
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
        return canonical.ids(new int[0], text);
      }

      @Override
      public String note() {
        return "prompts are made with the tokenizer and chat template of " + model.name();
      }
    };
  }
}
