package io.radixflow.grammar.regex;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Unicode's properties of emoji (Unicode 15.1), which Java has not before release 21. */
final class EmojiNames {
  private static final Map<String, CodePoints> SETS = read();

  private EmojiNames() {}

  /**
   * Returns the characters of a property; null if there is none of the name.
   *
   * @param name in lower case, without separators
   */
  static CodePoints property(String name) {
    return SETS.get(name);
  }

  private static Map<String, CodePoints> read() {
    Map<String, CodePoints> sets = new HashMap<>();
    try (InputStream in = EmojiNames.class.getResourceAsStream("emoji.txt")) {
      for (String line : new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\n")) {
        String[] words = line.split(" ");
        CodePoints set = CodePoints.NONE;
        for (int i = 1; i < words.length; i++) {
          String[] ends = words[i].split("-");
          int first = Integer.parseInt(ends[0], 16);
          set = set.or(CodePoints.range(first, Integer.parseInt(ends[ends.length - 1], 16)));
        }
        sets.put(words[0].replace("_", "").toLowerCase(Locale.ROOT), set);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return sets;
  }
}
