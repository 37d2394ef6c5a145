package io.radixflow.text.prompt;

import io.radixflow.text.reply.ReasoningFormat;
import io.radixflow.text.reply.ReplyFormat;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.JsonValues;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.template.ToolCall;
import java.util.List;

/**
 * Adapts a chat template that does not know reasoning or calls as fields of replies. They are
 * passed in the content, as a model writes them, and the template decides what to do with them.
 */
public final class RepliesAsContent implements ChatTemplate {
  private final ChatTemplate template;
  private final ReasoningFormat marks;
  private final boolean takesCalls;

  /**
   * @param marks the marks of reasoning; null if the template needs none
   * @param takesCalls whether the template knows calls
   */
  private RepliesAsContent(ChatTemplate template, ReasoningFormat marks, boolean takesCalls) {
    this.template = template;
    this.marks = marks;
    this.takesCalls = takesCalls;
  }

  /**
   * Returns a template that accepts replies with reasoning and calls, whatever the model's template
   * supports.
   */
  public static ChatTemplate of(ChatTemplate template) {
    String source = template.source();
    boolean takesReasoning = source.contains("reasoning_content");
    ReasoningFormat marks = takesReasoning ? null : ReplyFormat.of(source).reasoning();
    boolean takesCalls = source.contains("tool_calls");
    return marks == null && takesCalls
        ? template
        : new RepliesAsContent(template, marks, takesCalls);
  }

  private List<Message> marked(List<Message> messages) {
    return messages.stream().map(this::marked).toList();
  }

  private Message marked(Message message) {
    boolean thinks = marks != null && message.reasoning() != null;
    boolean calls = !takesCalls && !message.toolCalls().isEmpty();
    if (!thinks && !calls) {
      return message;
    }
    StringBuilder content = new StringBuilder();
    if (thinks) {
      content.append(marks.open()).append('\n').append(message.reasoning().strip());
      content.append('\n').append(marks.close()).append("\n\n");
    }
    content.append(message.content() == null ? "" : message.content());
    if (calls) {
      message.toolCalls().forEach(call -> append(content, call));
    }
    return new Message(
        message.role(),
        content.toString(),
        message.name(),
        calls ? List.of() : message.toolCalls(),
        message.toolCallId(),
        thinks ? null : message.reasoning());
  }

  private static void append(StringBuilder content, ToolCall call) {
    content.append(content.isEmpty() ? "" : "\n").append("<tool_call>\n{\"name\": ");
    content.append(JsonValues.write(call.name())).append(", \"arguments\": ");
    boolean object = JsonValues.object(call.arguments()) != null;
    content.append(object ? call.arguments() : JsonValues.write(call.arguments()));
    content.append("}\n</tool_call>");
  }

  @Override
  public String source() {
    return template.source();
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    return template.render(marked(messages), addGenerationPrompt, options);
  }

  @Override
  public int[] encode(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    return template.encode(marked(messages), addGenerationPrompt, options);
  }

  @Override
  public int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options) {
    return template.encodeTurn(marked(before), marked(added), options);
  }

  @Override
  public Continued encodeContinued(List<Message> messages, TemplateOptions options) {
    return template.encodeContinued(marked(messages), options);
  }

  @Override
  public int[] encodeReply(String text) {
    return template.encodeReply(text);
  }
}
