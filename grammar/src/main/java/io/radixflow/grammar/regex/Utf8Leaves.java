package io.radixflow.grammar.regex;

import io.radixflow.text.regex.CodePoints;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/** Makes the automata over UTF-8 bytes of characters and of fixed texts. Owned by one pool. */
final class Utf8Leaves {
  private final RegexPool pool;

  /** For 1 to 3 bytes, the automaton that matches any last bytes of a character. */
  private final Regex[] tails = new Regex[3];

  Utf8Leaves(RegexPool pool) {
    this.pool = pool;
  }

  /** Returns an automaton that matches one character of a set. */
  Regex characters(CodePoints set) {
    Edges edges = new Edges();
    for (int b = 0; b < 0x80; b++) {
      edges.add(b, set.contains(b) ? pool.epsilon : pool.empty);
    }
    CodePoints two = set.and(CodePoints.range(0x80, 0x7FF));
    for (int b = 0xC2; b <= 0xDF; b++) {
      edges.add(b, tail(two, (b & 0x1F) << 6, 1));
    }
    CodePoints three = set.and(CodePoints.range(0x800, 0xFFFF));
    for (int b = 0xE0; b <= 0xEF; b++) {
      edges.add(b, tail(three, (b & 0xF) << 12, 2));
    }
    CodePoints four = set.and(CodePoints.range(0x10000, CodePoints.MAX));
    for (int b = 0xF0; b <= 0xF4; b++) {
      edges.add(b, tail(four, (b & 7) << 18, 3));
    }
    return edges.node(false);
  }

  /** Returns an automaton of the last bytes of a set's characters from a base on. */
  private Regex tail(CodePoints set, int base, int bytes) {
    int size = 1 << 6 * bytes;
    int covered = base > CodePoints.MAX ? 0 : set.covers(base, base + size - 1);
    if (covered == 0) {
      return pool.empty;
    }
    if (bytes == 0) {
      return pool.epsilon;
    }
    if (covered == 1 && tails[bytes - 1] != null) {
      return tails[bytes - 1];
    }
    Edges edges = new Edges();
    for (int b = 0; b < 64; b++) {
      edges.add(0x80 + b, tail(set, base + b * (size >> 6), bytes - 1));
    }
    Regex made = edges.node(false);
    if (covered == 1) {
      tails[bytes - 1] = made;
    }
    return made;
  }

  /** Collects the edges of a leaf in the order of their bytes. */
  private final class Edges {
    private final List<Integer> bounds = new ArrayList<>();
    private final List<Regex> targets = new ArrayList<>();

    void add(int value, Regex target) {
      if (target == pool.empty) {
        return;
      }
      int last = targets.size() - 1;
      if (last >= 0 && targets.get(last) == target && bounds.get(2 * last + 1) == value - 1) {
        bounds.set(2 * last + 1, value);
        return;
      }
      bounds.add(value);
      bounds.add(value);
      targets.add(target);
    }

    Regex node(boolean nullable) {
      int[] edges = bounds.stream().mapToInt(Integer::intValue).toArray();
      return pool.leaf(nullable, edges, targets.toArray(RegexPool.NO_PARTS));
    }
  }

  /** Returns an automaton that matches one text. */
  Regex text(String characters) {
    byte[] text = characters.getBytes(StandardCharsets.UTF_8);
    Regex made = pool.epsilon;
    for (int i = text.length - 1; i >= 0; i--) {
      int value = text[i] & 0xFF;
      made = pool.leaf(false, new int[] {value, value}, new Regex[] {made});
    }
    return made;
  }

  /** Returns an automaton that matches any of some texts. */
  Regex texts(Collection<String> texts) {
    TreeMap<byte[], Boolean> sorted = new TreeMap<>(Arrays::compareUnsigned);
    for (String text : texts) {
      sorted.put(text.getBytes(StandardCharsets.UTF_8), true);
    }
    // Texts come in the order of their bytes; a level is closed when the next text leaves it.
    List<Edges> levels = new ArrayList<>();
    List<Boolean> ends = new ArrayList<>();
    byte[] previous = {};
    levels.add(new Edges());
    ends.add(false);
    for (byte[] text : sorted.keySet()) {
      int common = Math.max(0, mismatch(previous, text));
      close(levels, ends, previous, common);
      for (int i = common; i < text.length; i++) {
        levels.add(new Edges());
        ends.add(false);
      }
      ends.set(text.length, true);
      previous = text;
    }
    close(levels, ends, previous, 0);
    return levels.get(0).node(ends.get(0));
  }

  private static int mismatch(byte[] a, byte[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  private void close(List<Edges> levels, List<Boolean> ends, byte[] text, int keep) {
    while (levels.size() > keep + 1) {
      int last = levels.size() - 1;
      Regex node = levels.remove(last).node(ends.remove(last));
      levels.get(last - 1).add(text[last - 1] & 0xFF, node);
    }
  }
}
