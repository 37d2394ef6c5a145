package io.radixflow.lab.workload;

import io.radixflow.engine.PromptException;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.operators.prompt.CanonicalReply;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.protocol.record.Message;
import java.util.List;

/** Makes token ids of conversations, so that equal beginnings have equal ids. */
interface ConversationTokens {
  /**
   * The prompt of a turn.
   *
   * @param dropped oldest turns that the job left out of it, as its reply reports
   * @throws PromptException if none can be made; the job would reject the turn
   */
  Prompt prompt(Conversation conversation, List<Message> added, int dropped) throws PromptException;

  /** The ids that the next prompt has in the reply's place, its end included. */
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
