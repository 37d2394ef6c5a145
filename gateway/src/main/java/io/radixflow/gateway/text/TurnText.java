package io.radixflow.gateway.text;

import io.radixflow.grammar.ReplyConstraint;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Message;
import io.radixflow.text.prompt.PromptText;
import io.radixflow.text.reply.Tool;
import io.radixflow.text.reply.ToolFormat;
import io.radixflow.text.template.ChatMessage;
import io.radixflow.text.template.TemplateCall;
import io.radixflow.text.template.TemplateOptions;
import java.util.List;

/** What a turn's prompt is made of: its messages and options as {@link PromptText} takes them. */
final class TurnText {
  private static final GenerationOptions NONE = GenerationOptions.builder().build();

  private TurnText() {}

  static List<ChatMessage> messages(List<Message> messages) {
    return messages.stream().map(TurnText::message).toList();
  }

  private static ChatMessage message(Message message) {
    return new ChatMessage(
        message.role(),
        message.content(),
        message.name(),
        message.toolCalls().stream()
            .map(call -> new TemplateCall(call.id(), call.name(), call.arguments()))
            .toList(),
        message.toolCallId(),
        message.reasoning());
  }

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
