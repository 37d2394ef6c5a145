package io.radixflow.operators.session;

import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.grammar.ReplyConstraint;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.reply.Tool;
import io.radixflow.text.reply.ToolFormat;
import io.radixflow.text.template.TemplateOptions;
import java.util.List;
import java.util.Objects;

/**
 * The content of a turn's prompt besides its messages, and how its reply is read.
 *
 * @param template tools and further variables of the chat template
 * @param identity a hash of the template's variables, empty for none: prompts of a conversation
 *     extend each other only if it is the same
 * @param tools the functions that the reply may call; empty for none
 * @param toolParser name of the format of calls; null for the format of the chat template
 * @param separateReasoning whether reasoning is separate from content
 * @param constraint constrains the form of the reply
 */
public record PromptOptions(
    TemplateOptions template,
    String identity,
    List<Tool> tools,
    String toolParser,
    boolean separateReasoning,
    ReplyConstraint constraint) {

  /** Options of a prompt that has only messages. */
  public static final PromptOptions NONE =
      new PromptOptions(TemplateOptions.NONE, "", List.of(), null, true, ReplyConstraint.NONE);

  private static final PromptOptions CONTENT_ONLY =
      new PromptOptions(TemplateOptions.NONE, "", List.of(), null, false, ReplyConstraint.NONE);

  private static final int IDENTITY = 32;

  /**
   * @param layers options in order of precedence, the strongest first; entries may be null
   * @throws IllegalArgumentException if no format has the given name, or options contradict each
   *     other
   */
  public static PromptOptions resolve(List<GenerationOptions> layers) {
    String given = TurnOptions.first(layers, GenerationOptions::tools, "[]");
    String kwargs = TurnOptions.first(layers, GenerationOptions::chatTemplateKwargs, "{}");
    String effort = TurnOptions.first(layers, GenerationOptions::reasoningEffort, "");
    String parser = TurnOptions.first(layers, GenerationOptions::toolParser, null);
    if (parser != null) {
      ToolFormat.byName(parser);
    }
    boolean separate = TurnOptions.first(layers, GenerationOptions::separateReasoning, true);
    boolean hasTools = !given.equals("[]");
    TemplateOptions template = TemplateOptions.of(given, kwargs, effort);
    String choice = TurnOptions.first(layers, GenerationOptions::toolChoice, "auto");
    List<Tool> tools = !hasTools || choice.equals("none") ? List.of() : Tool.list(template.tools());
    ReplyConstraint constraint = constraint(layers, choice, tools);
    if (!hasTools
        && kwargs.equals("{}")
        && effort.isEmpty()
        && constraint == ReplyConstraint.NONE) {
      return separate ? NONE : CONTENT_ONLY;
    }
    return new PromptOptions(
        template,
        template.variables().isEmpty() && !hasTools
            ? ""
            : StableHash.hex(given, kwargs, effort).substring(0, IDENTITY),
        tools,
        parser,
        separate,
        constraint);
  }

  /** The first layer that sets the form of the content decides it, even if it leaves it free. */
  private static ReplyConstraint constraint(
      List<GenerationOptions> layers, String choice, List<Tool> tools) {
    GenerationOptions form =
        layers.stream()
            .filter(Objects::nonNull)
            .filter(layer -> layer.responseFormat() != null || layer.structuredOutputs() != null)
            .findFirst()
            .orElseGet(() -> GenerationOptions.builder().build());
    return ReplyConstraint.resolve(
        form.responseFormat(),
        form.structuredOutputs(),
        choice,
        TurnOptions.first(layers, GenerationOptions::parallelToolCalls, true),
        tools);
  }
}
