package io.radixflow.text.prompt;

import io.radixflow.text.reply.ReasoningFormat;
import io.radixflow.text.reply.ReplyFormat;
import io.radixflow.text.reply.ReplyParser;
import io.radixflow.text.reply.ReplyPart;
import io.radixflow.text.reply.ToolFormat;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.function.Consumer;

/**
 * The beginning of a reply. The event's sender wrote it, and the model continues it. Immutable.
 *
 * @param given the message as its sender wrote it
 * @param read the same message after reasoning between marks was moved from its content to its
 *     reasoning; if the content is empty, the model continues the reasoning
 * @param text the message as a model would write it
 * @param mark the mark that begins the continued reasoning; empty if the model continues the
 *     content. It is the end of the prompt's text for the parser of the reply
 */
public record Prefill(Message given, Message read, String text, String mark) {

  /**
   * Returns a message of the assistant as the beginning of a reply.
   *
   * @param format of the reply
   * @return null if the message is empty
   */
  public static Prefill of(ReplyFormat format, Message given) {
    String content = given.content() == null ? "" : given.content();
    String thought = given.reasoning();
    ReasoningFormat marks = format.reasoning();
    if (thought == null && marks != null && content.stripLeading().startsWith(marks.open())) {
      StringBuilder answer = new StringBuilder();
      StringBuilder reasoning = new StringBuilder();
      Consumer<ReplyPart> parts =
          part -> {
            switch (part.kind()) {
              case CONTENT -> answer.append(part.text());
              case REASONING -> reasoning.append(part.text());
              case TOOL_CALL, ARGUMENTS -> throw new IllegalStateException("no tools were given");
            }
          };
      ReplyParser parser = format.parser(List.of(), "");
      parser.accept(content, parts);
      parser.finish(false, parts);
      content = answer.toString();
      thought = reasoning.toString();
    }
    boolean channels = format.tools() == ToolFormat.HARMONY;
    boolean thinks = thought != null && content.isEmpty() && (marks != null || channels);
    if (content.isEmpty() && !thinks) {
      return null;
    }
    Message read = new Message("assistant", content, null, List.of(), null, thought);
    String mark = !thinks ? "" : channels ? "<|channel|>analysis<|message|>" : marks.open();
    return new Prefill(given, read, format.beginning(thought, content), mark);
  }

  /** Returns whether the model continues the reasoning instead of the content. */
  public boolean thinks() {
    return read.content().isEmpty();
  }
}
