package io.radixflow.text.template;

import io.radixflow.text.jinja.JinjaTemplate;
import io.radixflow.text.jinja.value.JinjaException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Renders messages with a Jinja chat template, like {@code apply_chat_template} of Hugging Face's
 * transformers. Immutable and thread-safe.
 *
 * <p>Templates come from model files and are untrusted; see {@link JinjaTemplate}. An invalid
 * template fails when it is used, not when it is read.
 */
public final class JinjaRenderer {
  /**
   * The date that all templates get, which is also the default of Llama 3 templates. A prompt must
   * not change overnight: replies after a crash would be different, and cached prefixes would no
   * longer match.
   */
  private static final LocalDateTime NOW = LocalDateTime.of(2024, 7, 26, 12, 0);

  private static final String CONTINUE = "continue_final_message";
  private static final String GENERATE = "add_generation_prompt";
  private static final List<String> REASONING =
      List.of("reasoning_content", "thinking", "reasoning");

  private final String source;
  private final JinjaTemplate template;
  private final JinjaException invalid;
  private final Map<String, Object> constants;
  private volatile MessageForm form;

  /**
   * @param template the Jinja source
   * @param constants variables that are the same for all conversations ({@code bos_token} …)
   */
  public JinjaRenderer(String template, Map<String, Object> constants) {
    this.source = template;
    this.constants = new HashMap<>(constants);
    JinjaTemplate parsed = null;
    JinjaException failure = null;
    try {
      parsed = JinjaTemplate.parse(template);
    } catch (JinjaException e) {
      failure = e;
    }
    this.template = parsed;
    this.invalid = failure;
  }

  /** Returns the text of the template in the model's files. */
  String source() {
    return source;
  }

  /** Returns the form of messages that the template needs. */
  MessageForm form() {
    if (form == null) {
      form = FormProbe.of(this);
    }
    return form;
  }

  /**
   * Renders a conversation, always with the same date. Throws the same errors as {@link #render}.
   */
  String prompt(PromptVariables prompt, boolean addGenerationPrompt) {
    Map<String, Object> variables = new HashMap<>(prompt.variables());
    variables.remove(CONTINUE);
    variables.put(GENERATE, addGenerationPrompt);
    return render(prompt.messages(), prompt.tools(), variables, NOW);
  }

  /** Like {@link #prompt}, but ends with the content of the last message. */
  String continued(PromptVariables prompt) {
    Map<String, Object> variables = new HashMap<>(prompt.variables());
    variables.put(CONTINUE, true);
    variables.put(GENERATE, false);
    return render(prompt.messages(), prompt.tools(), variables, NOW);
  }

  /**
   * Renders raw messages.
   *
   * @param messages JSON values: one map per message, with ordered keys
   * @param tools definitions of tools, or null
   * @param variables further variables; {@code continue_final_message} is not passed to the
   *     template but makes the text end with the last message's content
   * @param now the date for the template
   * @throws ChatTemplateException if the template rejects the messages, fails, or exceeds a bound
   */
  public String render(
      List<?> messages, List<?> tools, Map<String, ?> variables, LocalDateTime now) {
    if (invalid != null) {
      throw failure(invalid);
    }
    Map<String, Object> all = new HashMap<>(constants);
    all.put("documents", null);
    all.put(GENERATE, false);
    all.putAll(variables);
    all.put("tools", tools);
    FinalMessage last = null;
    List<Object> given = new ArrayList<>(messages.size());
    messages.forEach(message -> given.add(withReasoning(message)));
    if (Boolean.TRUE.equals(all.remove(CONTINUE))) {
      last = FinalMessage.mark(given, source);
    }
    all.put("messages", given);
    try {
      String text = template.render(all, now);
      return last == null ? text : last.cut(text);
    } catch (JinjaException e) {
      throw failure(e);
    }
  }

  /** Returns the message with its reasoning under both names that templates use. */
  private static Object withReasoning(Object message) {
    if (!(message instanceof Map<?, ?> fields)) {
      return message;
    }
    Object reasoning = null;
    for (String name : REASONING) {
      reasoning = reasoning == null ? fields.get(name) : reasoning;
    }
    if (reasoning == null) {
      return message;
    }
    Map<Object, Object> named = new LinkedHashMap<>();
    if (!fields.containsKey("thinking")) {
      named.put("thinking", reasoning);
    }
    named.putAll(fields);
    named.put("reasoning_content", reasoning);
    return named;
  }

  private static ChatTemplateException failure(JinjaException e) {
    return new ChatTemplateException(
        e.isRaised()
            ? "the model's chat template rejects the conversation: " + e.reason()
            : "the model's chat template failed: " + e.getMessage(),
        e.kind().equals("LimitExceeded"));
  }
}
