package io.radixflow.text.template;

import io.radixflow.text.tokenizer.AddedToken;
import io.radixflow.text.tokenizer.AddedTokens;
import java.util.BitSet;
import java.util.List;
import java.util.function.Predicate;

/**
 * Marks every place where a conversation contains the text of an added token, so that the rendered
 * prompt contains only the template's own added tokens. The mark is a separator, which is a
 * character that is used nowhere else. It is inserted after the first character of each occurrence.
 * It is also inserted at the start or the end of a text if that could form a token together with
 * the template's text.
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

  /** Returns whether {@link #mark} would change any text of the prompt. */
  boolean concerns(PromptVariables prompt) {
    boolean[] concerned = new boolean[1];
    prompt.forEachText(text -> concerned[0] = concerned[0] || concerns(text));
    return concerned[0];
  }

  /** Returns the prompt with separators where they are needed. */
  PromptVariables mark(PromptVariables prompt, char separator) {
    return prompt.mapTexts(text -> mark(text, separator));
  }

  /**
   * Returns a character that does not occur in any of the texts.
   *
   * @throws ChatTemplateException if there is no such character
   */
  static char unused(PromptVariables prompt, String rendered) {
    BitSet used = new BitSet();
    prompt.forEachText(text -> text.chars().forEach(used::set));
    rendered.chars().forEach(used::set);
    return unused(used);
  }

  /** Returns a character that is not in a text. */
  static char unused(String text) {
    BitSet used = new BitSet();
    text.chars().forEach(used::set);
    return unused(used);
  }

  private static char unused(BitSet used) {
    for (char c = FIRST_PRIVATE; c <= LAST_PRIVATE; c++) {
      if (!used.get(c)) {
        return c;
      }
    }
    throw new ChatTemplateException(
        "the conversation uses every private use character; none is left to mark special tokens");
  }

  /** Returns whether marking a text would change it. */
  boolean concerns(String text) {
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

  /** Returns a text with separators where they are needed. */
  String mark(String text, char separator) {
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

  /**
   * Returns whether the beginning of the text could be the end of a token that the template began.
   */
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
   * Returns whether the end of the text could be the beginning of a token that the template
   * completes.
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
