package io.radixflow.kernels.text.template;

import io.radixflow.kernels.text.tokenizer.AddedToken;
import io.radixflow.kernels.text.tokenizer.AddedTokens;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

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
    for (ChatMessage message : messages) {
      if (concerns(message.role()) || message.content() != null && concerns(message.content())) {
        return true;
      }
    }
    return false;
  }

  /** The messages with separators where they are needed. */
  List<ChatMessage> mark(List<ChatMessage> messages, char separator) {
    List<ChatMessage> marked = new ArrayList<>(messages.size());
    for (ChatMessage message : messages) {
      marked.add(
          new ChatMessage(
              mark(message.role(), separator),
              message.content() == null ? null : mark(message.content(), separator),
              message.name(),
              message.toolCalls(),
              message.toolCallId(),
              message.reasoning()));
    }
    return marked;
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
          && messages.stream().noneMatch(m -> (m.role() + m.content()).indexOf(candidate) >= 0)) {
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
