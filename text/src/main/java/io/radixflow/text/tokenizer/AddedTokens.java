package io.radixflow.text.tokenizer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The added tokens of a vocabulary. A search finds the leftmost, and among these the longest. */
public final class AddedTokens {

  private static final AddedToken[] NONE = {};

  private final Map<String, AddedToken> byText = new HashMap<>();
  private final AddedToken[][] byFirstChar;

  public AddedTokens(Collection<AddedToken> tokens) {
    Map<Character, List<AddedToken>> groups = new HashMap<>();
    for (AddedToken token : tokens) {
      if (!token.text().isEmpty() && byText.putIfAbsent(token.text(), token) == null) {
        groups.computeIfAbsent(token.text().charAt(0), c -> new ArrayList<>()).add(token);
      }
    }
    int last = groups.keySet().stream().mapToInt(first -> first).max().orElse(-1);
    byFirstChar = new AddedToken[last + 1][];
    Arrays.fill(byFirstChar, NONE);
    groups.forEach(
        (first, group) -> {
          group.sort(Comparator.comparingInt((AddedToken t) -> t.text().length()).reversed());
          byFirstChar[first] = group.toArray(NONE);
        });
  }

  /** All added tokens, in no particular order. */
  public Collection<AddedToken> all() {
    return byText.values();
  }

  boolean isEmpty() {
    return byText.isEmpty();
  }

  /** Returns the longest token at position {@code at}, or null. */
  public AddedToken match(char[] text, int at, int to) {
    if (text[at] >= byFirstChar.length) {
      return null;
    }
    for (AddedToken token : byFirstChar[text[at]]) {
      if (isAt(token.text(), text, at, to)) {
        return token;
      }
    }
    return null;
  }

  private static boolean isAt(String token, char[] text, int at, int to) {
    if (token.length() > to - at) {
      return false;
    }
    for (int i = 1; i < token.length(); i++) {
      if (token.charAt(i) != text[at + i]) {
        return false;
      }
    }
    return true;
  }
}
