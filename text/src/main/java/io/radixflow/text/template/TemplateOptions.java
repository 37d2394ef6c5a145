package io.radixflow.text.template;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The input of a chat template in addition to the messages. Values are JSON values: maps with
 * ordered keys, lists, strings, numbers, booleans, null. They are not copied and must not change.
 *
 * @param tools the definitions of the tools that the model may call, or null
 * @param variables further variables, such as {@code enable_thinking}; they do not replace the
 *     renderer's variables ({@code messages}, {@code tools}, {@code add_generation_prompt})
 */
public record TemplateOptions(List<?> tools, Map<String, ?> variables) {
  public static final TemplateOptions NONE = new TemplateOptions(null, Map.of());

  /**
   * Reads options from JSON.
   *
   * @param tools an array; null or {@code []} for none
   * @param variables an object; null for none
   * @param effort the variable {@code reasoning_effort}; null or empty for none
   */
  public static TemplateOptions of(String tools, String variables, String effort) {
    Map<String, Object> all =
        variables == null ? new HashMap<>() : new HashMap<>(JsonValues.object(variables));
    if (effort != null && !effort.isEmpty()) {
      all.put("reasoning_effort", effort);
    }
    boolean none = tools == null || tools.equals("[]");
    return new TemplateOptions(none ? null : (List<?>) JsonValues.value(tools), all);
  }
}
