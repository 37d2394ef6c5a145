package io.radixflow.operators.prompt;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.PromptException;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.Arrays;
import java.util.List;

/**
 * A prompt whose beginning may be shared by all tenants: the tokens that depend only on the system
 * prompt. One thread fills it, then any thread may read it.
 */
public final class SharedSystemPrompt implements EngineRequest.PromptSource {
  private final EngineRequest.PromptSource prompt;
  private final ChatTemplate template;
  private final String system;
  private volatile int publicTokens;

  /**
   * @param prompt makes the prompt
   * @param system the system prompt
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

  /** Returns how many leading ids a prompt shares with a prompt of only the system prompt. */
  public static int commonTokens(ChatTemplate template, String system, int[] ids) {
    try {
      int[] alone =
          template.encode(List.of(new Message("system", system)), false, TemplateOptions.NONE);
      int differs = Arrays.mismatch(alone, ids);
      return differs < 0 ? ids.length : differs;
    } catch (ChatTemplateException e) {
      return 0; // the template also requires a user's message
    }
  }

  @Override
  public int publicTokens() {
    return publicTokens;
  }
}
