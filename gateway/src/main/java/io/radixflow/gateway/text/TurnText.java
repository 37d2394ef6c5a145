package io.radixflow.gateway.text;

import io.radixflow.grammar.ReplyConstraint;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.prompt.PromptText;
import io.radixflow.text.reply.Tool;
import io.radixflow.text.reply.ToolFormat;
import io.radixflow.text.template.TemplateOptions;
import java.util.List;

/** The options of a turn as {@link PromptText} takes them. */
final class TurnText {
  private static final GenerationOptions NONE = GenerationOptions.builder().build();

  private TurnText() {}

  /**
   * Returns the options of a prompt. Options that the job would refuse are refused here too.
   *
   * @param given options of the turn, or null
   * @throws IllegalArgumentException if no format has the given name, or options contradict each
   *     other
   */
  static PromptText.Options options(GenerationOptions given) {
    GenerationOptions options = given == null ? NONE : given;
    TemplateOptions template =
        TemplateOptions.of(
            options.tools(), options.chatTemplateKwargs(), options.reasoningEffort());
    if (options.toolParser() != null) {
      ToolFormat.byName(options.toolParser());
    }
    String choice = options.toolChoice() == null ? "auto" : options.toolChoice();
    boolean callable = template.tools() != null && !choice.equals("none");
    ReplyConstraint.resolve(
        options.responseFormat(),
        options.structuredOutputs(),
        choice,
        !Boolean.FALSE.equals(options.parallelToolCalls()),
        callable ? Tool.list(template.tools()) : List.of());
    return new PromptText.Options(
        template,
        options.toolParser(),
        !Boolean.FALSE.equals(options.separateReasoning()),
        !Boolean.FALSE.equals(options.addGenerationPrompt()),
        options.continuesMessage());
  }
}
