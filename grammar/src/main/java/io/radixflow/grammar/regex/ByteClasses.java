package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.Regex.Kind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Classes of bytes that no expression of a grammar tells apart, numbered from 0. Immutable. */
final class ByteClasses {
  static final int[] JSON_ESCAPES = "\"\\bfnrtu0123456789abcdef".chars().toArray();
  private static final String JSON_BYTES = "\"\\bfnrtu0123456789abcdefABCDEF";

  private final int[] classOf = new int[256];
  private final int[] first;

  ByteClasses(List<Regex> nodes) {
    long[] mark = new long[256];
    boolean json = false;
    boolean numbers = false;
    for (Regex node : nodes) {
      json |= node.kind == Kind.JSON;
      numbers |= node.kind == Kind.MULTIPLE;
      for (int edge = 0; node.kind == Kind.LEAF && edge < node.parts.length; edge++) {
        long target = mix(node.id * 0x9E3779B97F4A7C15L + node.parts[edge].id);
        for (int b = node.edges[2 * edge]; b <= node.edges[2 * edge + 1]; b++) {
          mark[b] += target;
        }
      }
    }
    for (int b = 0; b < 256; b++) {
      boolean control = b < 0x20 || b == 0x7F;
      if (json && (control || JSON_BYTES.indexOf(b) >= 0)
          || numbers && "0123456789.".indexOf(b) >= 0) {
        mark[b] += mix(b + 1);
      }
    }
    Map<Long, Integer> known = new HashMap<>();
    int[] firsts = new int[256];
    for (int b = 0; b < 256; b++) {
      Integer seen = known.get(mark[b]);
      if (seen == null) {
        seen = known.size();
        firsts[seen] = b;
        known.put(mark[b], seen);
      }
      classOf[b] = seen;
    }
    first = java.util.Arrays.copyOf(firsts, known.size());
  }

  private static long mix(long value) {
    long mixed = (value ^ value >>> 33) * 0xFF51AFD7ED558CCDL;
    mixed = (mixed ^ mixed >>> 33) * 0xC4CEB9FE1A85EC53L;
    return mixed ^ mixed >>> 33;
  }

  int count() {
    return first.length;
  }

  int of(int value) {
    return classOf[value];
  }

  /** Returns the least byte of a class. */
  int first(int byteClass) {
    return first[byteClass];
  }
}
