package io.radixflow.text.template;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The variables that a chat template gets from a conversation and its client. Only the names of a
 * message's fields are trusted.
 *
 * @param messages one map per message
 * @param tools definitions of tools, or null
 * @param variables further variables
 */
record PromptVariables(
    List<Map<String, Object>> messages, List<?> tools, Map<String, ?> variables) {

  static PromptVariables of(List<Message> messages, TemplateOptions options, MessageForm form) {
    return new PromptVariables(
        new TemplateMessages(form).of(messages), options.tools(), options.variables());
  }

  /** Returns the text of the last message; empty if it has none. */
  String lastContent() {
    Object content = messages.get(messages.size() - 1).get("content");
    StringBuilder text = new StringBuilder();
    for (Object part : content instanceof List<?> parts ? parts : Arrays.asList(content)) {
      Object said = part instanceof Map<?, ?> fields ? fields.get("text") : part;
      text.append(said == null ? "" : said);
    }
    return text.toString();
  }

  /** Passes every text that came from outside to a consumer. */
  void forEachText(Consumer<String> consumer) {
    mapTexts(
        text -> {
          consumer.accept(text);
          return text;
        });
  }

  /** Returns the same variables with every text that came from outside replaced. */
  PromptVariables mapTexts(UnaryOperator<String> change) {
    List<Map<String, Object>> changed = new ArrayList<>(messages.size());
    for (Map<String, Object> message : messages) {
      Map<String, Object> fields = new LinkedHashMap<>();
      message.forEach((name, value) -> fields.put(name, mapField(name, value, change)));
      changed.add(fields);
    }
    Map<String, Object> changedVariables = new LinkedHashMap<>();
    variables.forEach((name, value) -> changedVariables.put(name, map(value, change)));
    return new PromptVariables(changed, (List<?>) map(tools, change), changedVariables);
  }

  private static Object mapField(String name, Object value, UnaryOperator<String> change) {
    if (!name.equals("tool_calls")) {
      return map(value, change);
    }
    List<Object> calls = new ArrayList<>();
    for (Object call : (List<?>) value) {
      Map<?, ?> fields = (Map<?, ?>) call;
      Map<?, ?> function = (Map<?, ?>) fields.get("function");
      Map<String, Object> changedFunction = new LinkedHashMap<>();
      changedFunction.put("name", map(function.get("name"), change));
      changedFunction.put("arguments", map(function.get("arguments"), change));
      Map<String, Object> changed = new LinkedHashMap<>();
      changed.put("id", map(fields.get("id"), change));
      changed.put("type", fields.get("type"));
      changed.put("function", changedFunction);
      calls.add(changed);
    }
    return calls;
  }

  private static Object map(Object value, UnaryOperator<String> change) {
    if (value instanceof String text) {
      return change.apply(text);
    } else if (value instanceof List<?> list) {
      List<Object> changed = new ArrayList<>(list.size());
      list.forEach(item -> changed.add(map(item, change)));
      return changed;
    } else if (value instanceof Map<?, ?> map) {
      Map<Object, Object> changed = new LinkedHashMap<>();
      map.forEach((key, item) -> changed.put(map(key, change), map(item, change)));
      return changed;
    }
    return value;
  }
}
