package io.radixflow.kernels.text.template;

import io.radixflow.kernels.text.tokenizer.AddedToken;
import io.radixflow.kernels.text.tokenizer.AddedTokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Marks what a conversation says where it spells an added token, so that after rendering only the
 * tokens that the template wrote are found: a separator character, used nowhere else, stands behind
 * the first character of every such spelling, and at an end of a content that could complete one
 * together with the template's text.
 */
final class SpecialTokenEscaper {

  private static final char FIRST_PRIVATE = '\uE000';
  private static final char LAST_PRIVATE = '\uF8FF';

  private final List<AddedToken> tokens;
  private final AddedTokens index;

  SpecialTokenEscaper(AddedTokens added, Predicate<AddedToken> guarded) {
    tokens = added.all().stream().filter(guarded).toList();
    index = new AddedTokens(tokens);
  }

  /** Returns whether marking the messages would change anything. */
  boolean concerns(List<ChatMessage> messages) {
    return messages.stream().flatMap(SpecialTokenEscaper::texts).anyMatch(this::concerns);
  }

  /** The messages with separators where they are needed. */
  List<ChatMessage> mark(List<ChatMessage> messages, char separator) {
    List<ChatMessage> marked = new ArrayList<>(messages.size());
    for (ChatMessage message : messages) {
      marked.add(
          new ChatMessage(
              mark(message.role(), separator),
              mark(message.content(), separator),
              mark(message.name(), separator),
              message.toolCalls().stream().map(call -> mark(call, separator)).toList(),
              mark(message.toolCallId(), separator),
              mark(message.reasoning(), separator)));
    }
    return marked;
  }

  private ToolCall mark(ToolCall call, char separator) {
    return new ToolCall(
        mark(call.id(), separator),
        mark(call.name(), separator),
        mark(call.arguments(), separator));
  }

  /** All texts that a message has. */
  private static Stream<String> texts(ChatMessage message) {
    Stream<String> own =
        Stream.of(
            message.role(),
            message.content(),
            message.name(),
            message.toolCallId(),
            message.reasoning());
    Stream<String> calls =
        message.toolCalls().stream()
            .flatMap(call -> Stream.of(call.id(), call.name(), call.arguments()));
    return Stream.concat(own, calls).filter(Objects::nonNull);
  }

  /**
   * A character that occurs in none of the texts.
   *
   * @throws ChatTemplateException if there is none
   */
  static char unused(List<ChatMessage> messages, String rendered) {
    for (char c = FIRST_PRIVATE; c <= LAST_PRIVATE; c++) {
      char candidate = c;
      if (rendered.indexOf(c) < 0
          && messages.stream()
              .flatMap(SpecialTokenEscaper::texts)
              .noneMatch(text -> text.indexOf(candidate) >= 0)) {
        return c;
      }
    }
    throw new ChatTemplateException(
        "the conversation uses every private use character; no room to mark special tokens");
  }

  private boolean concerns(String text) {
    if (beginsInside(text) || endsInside(text)) {
      return true;
    }
    char[] chars = text.toCharArray();
    for (int i = 0; i < chars.length; i++) {
      if (index.match(chars, i, chars.length) != null) {
        return true;
      }
    }
    return false;
  }

  private String mark(String text, char separator) {
    if (text == null) {
      return null;
    }
    StringBuilder out = new StringBuilder(text.length() + 16);
    if (beginsInside(text)) {
      out.append(separator);
    }
    char[] chars = text.toCharArray();
    for (int i = 0; i < chars.length; i++) {
      out.append(chars[i]);
      if (index.match(chars, i, chars.length) != null) {
        out.append(separator);
      }
    }
    if (endsInside(text)) {
      out.append(separator);
    }
    return out.toString();
  }

  /** Returns whether the text's beginning could be the end of a token that the template began. */
  private boolean beginsInside(String text) {
    for (AddedToken token : tokens) {
      for (int i = 1; i < token.text().length(); i++) {
        if (text.startsWith(token.text().substring(i))) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * Returns whether the text's end could be the beginning of a token that the template completes.
   */
  private boolean endsInside(String text) {
    for (AddedToken token : tokens) {
      for (int i = 1; i < token.text().length(); i++) {
        if (text.endsWith(token.text().substring(0, i))) {
          return true;
        }
      }
    }
    return false;
  }
}
