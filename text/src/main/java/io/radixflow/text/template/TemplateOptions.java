package io.radixflow.text.template;

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
}
