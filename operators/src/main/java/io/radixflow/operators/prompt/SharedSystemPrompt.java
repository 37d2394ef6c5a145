package io.radixflow.operators.prompt;

import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.template.ChatTemplateException;
import io.radixflow.kernels.text.template.TemplateOptions;
import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.PromptException;
import java.util.Arrays;
import java.util.List;

/**
 * A prompt whose beginning may be shared by all tenants, as far as the system prompt alone decides
 * it. Made on one thread, then read by any.
 */
public final class SharedSystemPrompt implements EngineRequest.PromptSource {
  private final EngineRequest.PromptSource prompt;
  private final ChatTemplate template;
  private final String system;
  private volatile int publicTokens;

  /**
   * @param prompt makes the prompt
   * @param system its system prompt
   */
  public SharedSystemPrompt(
      EngineRequest.PromptSource prompt, ChatTemplate template, String system) {
    this.prompt = prompt;
    this.template = template;
    this.system = system;
  }

  @Override
  public int[] ids() throws PromptException {
    int[] ids = prompt.ids();
    publicTokens = commonTokens(template, system, ids);
    return ids;
  }

  /** Returns how many ids a prompt has in common with one of the system prompt alone. */
  public static int commonTokens(ChatTemplate template, String system, int[] ids) {
    try {
      int[] alone =
          template.encode(List.of(new ChatMessage("system", system)), false, TemplateOptions.NONE);
      int differs = Arrays.mismatch(alone, ids);
      return differs < 0 ? ids.length : differs;
    } catch (ChatTemplateException e) {
      return 0; // a template that wants a user's message, too
    }
  }

  @Override
  public int publicTokens() {
    return publicTokens;
  }
}
