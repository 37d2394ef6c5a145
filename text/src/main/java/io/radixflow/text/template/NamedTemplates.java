package io.radixflow.text.template;

import java.util.HashMap;
import java.util.Map;

/**
 * The chat templates of one model by name. The one named {@code tool_use} takes conversations with
 * tools, {@code rag} those with documents, {@code default} all others. Immutable; for many threads.
 */
public final class NamedTemplates {
  /** The name of the template for all conversations that have none of their own. */
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
   * @throws ChatTemplateException if the model has only templates for others
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

  /** Returns the text of the template that shows how the model calls tools; empty for none. */
  String source() {
    JinjaRenderer shown = templates.getOrDefault(TOOL_USE, templates.get(DEFAULT));
    return shown == null ? "" : shown.source();
  }
}
