package io.radixflow.text;

import java.util.List;

/**
 * Looks for stop strings in a text that arrives character by character, with one Knuth–Morris–Pratt
 * automaton per string.
 *
 * <p>The stop string that is complete first wins. If several are complete at the same character,
 * the longest wins. So the outcome depends only on the text, not on how it was split into tokens.
 * Not thread-safe. Allocates nothing after construction.
 */
final class StopMatcher {

  private final String[] stops;
  private final int[][] borders;
  private final int[] matched;
  private int held;

  /**
   * @param stops strings that end a reply
   * @throws IllegalArgumentException if one is empty
   */
  StopMatcher(List<String> stops) {
    this.stops = stops.toArray(String[]::new);
    borders = new int[this.stops.length][];
    matched = new int[this.stops.length];
    for (int i = 0; i < borders.length; i++) {
      if (this.stops[i].isEmpty()) {
        throw new IllegalArgumentException("a stop string is empty; leave it out");
      }
      borders[i] = borders(this.stops[i]);
    }
  }

  /**
   * Adds the next character.
   *
   * @return the index of the stop string that ends with it, or -1
   */
  int accept(char c) {
    int found = -1;
    held = 0;
    for (int i = 0; i < stops.length; i++) {
      String stop = stops[i];
      int length = matched[i];
      while (length > 0 && stop.charAt(length) != c) {
        length = borders[i][length - 1];
      }
      if (stop.charAt(length) == c) {
        length++;
      }
      held = Math.max(held, length);
      if (length == stop.length()) {
        found = found < 0 || length > stops[found].length() ? i : found;
        length = borders[i][length - 1];
      }
      matched[i] = length;
    }
    return found;
  }

  /** The length of a stop string. */
  int length(int index) {
    return stops[index].length();
  }

  /** The number of characters at the end that may be the beginning of a stop string. */
  int held() {
    return held;
  }

  /** For each prefix, the length of its longest proper prefix that is also its suffix. */
  private static int[] borders(String stop) {
    int[] borders = new int[stop.length()];
    int length = 0;
    for (int i = 1; i < borders.length; i++) {
      while (length > 0 && stop.charAt(i) != stop.charAt(length)) {
        length = borders[length - 1];
      }
      if (stop.charAt(i) == stop.charAt(length)) {
        length++;
      }
      borders[i] = length;
    }
    return borders;
  }
}
