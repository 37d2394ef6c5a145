package io.radixflow.text;

import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.JsonValues;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The chat template of the simulated model, ChatML: {@code <|im_start|>role\ncontent<|im_end|>\n}.
 * Tools are described in a system message before all other messages; calls have the Hermes format.
 * Immutable.
 */
record SimChatTemplate(SimTokenizer tokenizer) implements ChatTemplate {
  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", "assistant", "tool");
  private static final String OPENING = "assistant\n";

  @Override
  public String source() {
    return "tool_calls: <tool_call>{\"name\": \"\", \"arguments\": {}}</tool_call>";
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    StringBuilder text = new StringBuilder();
    for (Message message : withTools(messages, options)) {
      text.append("<|im_start|>").append(body(message)).append("<|im_end|>\n");
    }
    return addGenerationPrompt
        ? text.append("<|im_start|>").append(OPENING).toString()
        : text.toString();
  }

  @Override
  public int[] encode(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    IntStream.Builder ids = IntStream.builder();
    appendAll(ids, withTools(messages, options), addGenerationPrompt);
    return ids.build().toArray();
  }

  private static List<Message> withTools(List<Message> messages, TemplateOptions options) {
    if (options.tools() == null) {
      return messages;
    }
    List<Message> all = new ArrayList<>();
    all.add(new Message("system", "Tools: " + JsonValues.write(options.tools())));
    all.addAll(messages);
    return all;
  }

  @Override
  public int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options) {
    IntStream.Builder ids = IntStream.builder();
    ids.add('\n');
    appendAll(ids, added, true);
    return ids.build().toArray();
  }

  @Override
  public Continued encodeContinued(List<Message> messages, TemplateOptions options) {
    return new Continued(true, encodeReply(messages.get(messages.size() - 1).content()));
  }

  @Override
  public int[] encodeReply(String text) {
    return tokenizer.encode(text);
  }

  private void appendAll(
      IntStream.Builder ids, List<Message> messages, boolean addGenerationPrompt) {
    for (Message message : messages) {
      ids.add(SimTokenizer.START);
      IntStream.of(tokenizer.encode(body(message))).forEach(ids);
      ids.add(SimTokenizer.END);
      ids.add('\n');
    }
    if (addGenerationPrompt) {
      ids.add(SimTokenizer.START);
      IntStream.of(tokenizer.encode(OPENING)).forEach(ids);
    }
  }

  private static String body(Message message) {
    if (message.role() == null || !ROLES.contains(message.role())) {
      throw new ChatTemplateException("role " + message.role() + " is not one of " + ROLES);
    }
    StringBuilder body = new StringBuilder(message.role()).append('\n');
    if (message.content() != null) {
      body.append(message.content());
    }
    for (ToolCall call : message.toolCalls()) {
      Map<String, Object> arguments = JsonValues.object(call.arguments());
      Map<String, Object> function = new LinkedHashMap<>();
      function.put("name", call.name());
      function.put("arguments", arguments == null ? call.arguments() : arguments);
      body.append("<tool_call>\n").append(JsonValues.write(function)).append("\n</tool_call>");
    }
    return body.toString();
  }
}
