package io.radixflow.text.template;

import java.util.HashMap;
import java.util.Map;

/**
 * The chat templates of one model by name. {@code tool_use} is for conversations with tools, {@code
 * rag} for conversations with documents, and {@code default} for all others. Immutable and safe for
 * many threads.
 */
public final class NamedTemplates {
  /** The name of the template for all conversations that do not have a template of their own. */
  public static final String DEFAULT = "default";

  /** The name of the template for conversations with tools. */
  public static final String TOOL_USE = "tool_use";

  /** The name of the template for conversations with documents. */
  public static final String RAG = "rag";

  private final Map<String, JinjaRenderer> templates = new HashMap<>();

  /**
   * @param sources Jinja sources by name
   * @param constants variables that are the same for all conversations ({@code bos_token} …)
   */
  public NamedTemplates(Map<String, String> sources, Map<String, Object> constants) {
    sources.forEach((name, source) -> templates.put(name, new JinjaRenderer(source, constants)));
  }

  /**
   * Returns the template for conversations with these options.
   *
   * @throws ChatTemplateException if the model only has templates for other conversations
   */
  JinjaRenderer choose(TemplateOptions options) {
    JinjaRenderer chosen = options.tools() == null ? null : templates.get(TOOL_USE);
    if (chosen == null && options.variables().get("documents") != null) {
      chosen = templates.get(RAG);
    }
    chosen = chosen == null ? templates.get(DEFAULT) : chosen;
    if (chosen == null) {
      throw new ChatTemplateException(
          "the model's chat templates " + templates.keySet() + " have no default");
    }
    return chosen;
  }

  /**
   * Returns the text of the template that shows how the model calls tools; empty if there is none.
   */
  String source() {
    JinjaRenderer shown = templates.getOrDefault(TOOL_USE, templates.get(DEFAULT));
    return shown == null ? "" : shown.source();
  }
}
