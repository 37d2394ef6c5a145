package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PromptAssembly;
import io.radixflow.operators.session.SharedSystemPrompt;
import java.util.List;

/** Makes what makes the prompts of turns, in the engine's context window. */
final class Prompts {
  private final ServingEngine engine;
  private final ServingOptions options;

  Prompts(ServingEngine engine, ServingOptions options) {
    this.engine = engine;
    this.options = options;
  }

  /**
   * @param added the new turn's messages; empty for the conversation as it is
   * @param maxTokens of the reply
   */
  PromptAssembly assembly(Conversation conversation, List<Message> added, int maxTokens) {
    int contextLength = engine.engine().info().contextLength();
    return new PromptAssembly(
        engine.model().tokenizer(),
        engine.model().chatTemplate(),
        conversation,
        added,
        new PromptAssembly.Window(
            contextLength,
            Math.max(1, Math.min(maxTokens, contextLength / 4)),
            options.maxTurns(),
            options.overflow() == ServingOptions.Overflow.DROP_OLDEST));
  }

  /** A prompt whose system prompt's pages lie in the public namespace. */
  EngineRequest.PromptSource shared(EngineRequest.PromptSource prompt, String system) {
    return new SharedSystemPrompt(prompt, engine.model().chatTemplate(), system);
  }
}
