package io.radixflow.protocol.topic;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.List;
import java.util.Map;

/**
 * The JSON object of a message, in events and in replies. A null field is left out, except {@code
 * content}.
 */
record MessageJson(
    String role,
    @JsonInclude(JsonInclude.Include.ALWAYS) String content,
    String name,
    String reasoningContent,
    List<CallJson> toolCalls,
    String toolCallId) {

  record CallJson(String id, String type, FunctionJson function) {
    static List<CallJson> of(List<ToolCall> calls) {
      return calls.isEmpty()
          ? null
          : calls.stream()
              .map(
                  call ->
                      new CallJson(
                          call.id(), "function", new FunctionJson(call.name(), call.arguments())))
              .toList();
    }

    static List<ToolCall> calls(List<CallJson> calls) {
      return calls == null ? List.of() : calls.stream().map(CallJson::call).toList();
    }

    private ToolCall call() {
      return function == null
          ? new ToolCall(id, "", "")
          : new ToolCall(id, function.name, function.arguments);
    }
  }

  record FunctionJson(String name, String arguments) {}

  static MessageJson of(Message message) {
    return new MessageJson(
        message.role(),
        message.content(),
        message.name(),
        message.reasoning(),
        CallJson.of(message.toolCalls()),
        message.toolCallId());
  }

  static List<MessageJson> of(List<Message> messages) {
    return messages == null ? null : messages.stream().map(MessageJson::of).toList();
  }

  Message message() {
    return new Message(
        role, content, name, CallJson.calls(toolCalls), toolCallId, reasoningContent);
  }

  static List<Message> messages(List<MessageJson> messages) {
    return messages == null ? null : messages.stream().map(MessageJson::message).toList();
  }

  /** The JSON object of a message in the answer to a query. */
  record ItemJson(
      String turn,
      String role,
      @JsonInclude(JsonInclude.Include.ALWAYS) String content,
      String name,
      String reasoningContent,
      List<CallJson> toolCalls,
      String toolCallId,
      List<ReplyFields.PartJson> parts,
      String finishReason,
      Map<String, String> metadata) {

    static List<ItemJson> of(List<Reply.Item> items) {
      return items == null ? null : items.stream().map(ItemJson::of).toList();
    }

    private static ItemJson of(Reply.Item item) {
      Message message = item.message();
      return new ItemJson(
          item.turn(),
          message.role(),
          message.content(),
          message.name(),
          message.reasoning(),
          CallJson.of(message.toolCalls()),
          message.toolCallId(),
          ReplyFields.PartJson.of(item.order()),
          item.finishReason(),
          item.metadata());
    }

    static List<Reply.Item> items(List<ItemJson> items) {
      return items == null ? null : items.stream().map(ItemJson::item).toList();
    }

    private Reply.Item item() {
      Message message =
          new Message(role, content, name, CallJson.calls(toolCalls), toolCallId, reasoningContent);
      return new Reply.Item(
          turn, message, finishReason, metadata, ReplyFields.PartJson.order(parts));
    }
  }
}
