package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.Regex.Kind;

/** Computes from the form of an expression its size, its work and properties of its matches. */
final class Measures {
  private Measures() {}

  /** Sets the measures of a node. Its parts already have their measures. */
  static void measure(Regex node) {
    boolean both = node.kind == Kind.AND;
    boolean aligned = !both;
    boolean exact = true;
    node.looping = node.kind == Kind.LOOP;
    node.depth = 1;
    node.weight = 1;
    for (Regex part : node.parts) {
      aligned = both ? aligned | part.aligned : aligned & part.aligned;
      exact &= part.exact;
      node.looping |= part.looping;
      if (node.kind != Kind.LEAF) {
        node.depth = Math.max(node.depth, part.depth + 1);
        node.weight = Math.min(node.weight + part.weight, Limits.WEIGHT + 1);
      }
    }
    node.cost = cost(node);
    node.surelyAlive = node.nullable || surelyAlive(node);
    switch (node.kind) {
      case EPSILON, LEAF, CONCAT, OR, REPEAT -> {
        node.aligned = aligned && node.kind != Kind.LEAF;
        node.exact = exact;
      }
      case AND, LOOP -> node.aligned = aligned;
      default -> {}
    }
    lengths(node);
  }

  /**
   * Returns the work of a derivative. Sets are compared part by part, and matches of an
   * intersection need a search.
   */
  private static int cost(Regex node) {
    long cost = 1;
    if (node.kind != Kind.LEAF) {
      for (Regex part : node.parts) {
        cost += part.cost;
      }
      cost *= node.kind == Kind.AND || node.kind == Kind.MULTIPLE ? 2 : 1;
    }
    return (int) Math.min(cost, Limits.WEIGHT);
  }

  private static boolean surelyAlive(Regex node) {
    boolean any = false;
    boolean all = true;
    for (Regex part : node.parts) {
      any |= part.surelyAlive;
      all &= part.surelyAlive;
    }
    return switch (node.kind) {
      case LEAF -> true;
      case OR -> any;
      case CONCAT, REPEAT, LOOP -> all;
      case JSON -> node.min == 0 && all;
      default -> false;
    };
  }

  // ---- lengths of matches, in characters ----

  private static void lengths(Regex node) {
    switch (node.kind) {
      case EMPTY -> set(node, Regex.MANY, Regex.MANY, 0);
      case EPSILON -> set(node, 0, 0, 0);
      case LEAF -> leaf(node);
      case OR -> {
        set(node, Regex.MANY, Regex.MANY, 0);
        for (Regex part : node.parts) {
          include(node, part.shortest, part.filled, part.longest);
        }
      }
      case CONCAT -> sequence(node, node.parts[0], node.parts[1]);
      case REPEAT -> repetition(node, node.parts[0]);
      case AND -> {
        set(node, 0, Regex.MANY, Regex.MANY);
        for (Regex part : node.parts) {
          node.shortest = Math.max(node.shortest, part.shortest);
          node.longest = Math.min(node.longest, part.longest);
        }
      }
      case JSON -> set(node, node.min == 0 ? node.parts[0].shortest : 1, Regex.MANY, Regex.MANY);
      default -> set(node, node.nullable ? 0 : 1, Regex.MANY, Regex.MANY);
    }
  }

  private static void set(Regex node, long shortest, long filled, long longest) {
    node.shortest = (int) Math.min(shortest, Regex.MANY);
    node.filled = (int) Math.min(filled, Regex.MANY);
    node.longest = (int) Math.min(longest, Regex.MANY);
  }

  /** A byte begins a character unless it continues one. */
  private static void leaf(Regex node) {
    set(node, Regex.MANY, Regex.MANY, 0);
    for (int i = 0; i < node.parts.length; i++) {
      boolean begins = node.edges[2 * i] >= 0xC0 || node.edges[2 * i + 1] < 0x80;
      boolean continues = node.edges[2 * i] >= 0x80 && node.edges[2 * i + 1] < 0xC0;
      node.exact &= begins || continues;
      Regex part = node.parts[i];
      int more = begins ? 1 : 0;
      include(
          node,
          (long) part.shortest + more,
          (long) part.filled + more,
          (long) part.longest + (continues ? 0 : 1));
    }
    if (node.nullable) {
      include(node, 0, 0, 0);
    }
  }

  /** Adds the lengths of other matches. */
  private static void include(Regex node, long shortest, long filled, long longest) {
    if (longest == node.longest) {
      set(node, Math.min(shortest, node.shortest), Math.min(filled, node.filled), longest);
      return;
    }
    boolean longer = longest > node.longest;
    long high = longer ? filled : node.filled;
    long low = longer ? node.filled : filled;
    long lowEnd = longer ? node.longest : longest;
    boolean joined = low < high && low <= lowEnd && lowEnd + 1 >= high;
    set(
        node,
        Math.min(shortest, node.shortest),
        joined ? low : high,
        Math.max(longest, node.longest));
  }

  private static void sequence(Regex node, Regex a, Regex b) {
    long filled = (long) a.filled + b.filled;
    if ((long) a.longest + b.shortest + 1 >= filled) {
      filled = Math.min(filled, (long) a.filled + b.shortest);
    }
    if ((long) b.longest + a.shortest + 1 >= (long) a.filled + b.filled) {
      filled = Math.min(filled, (long) b.filled + a.shortest);
    }
    set(node, (long) a.shortest + b.shortest, filled, (long) a.longest + b.longest);
  }

  private static void repetition(Regex node, Regex part) {
    int least = Math.max(node.min, 1);
    long spread = (long) part.longest - part.shortest;
    long count = spread <= 0 ? node.max : Math.max(least, (part.filled + spread - 2) / spread);
    boolean single = part.shortest == part.longest && part.shortest <= 1;
    count = single ? least : Math.min(count, node.max);
    boolean fills = (long) part.longest + part.shortest + 1 >= 2L * part.filled;
    long filled = fills ? part.filled + (count - 1) * part.shortest : Regex.MANY;
    set(
        node,
        (long) node.min * part.shortest,
        node.min == 0 && filled <= 1 ? 0 : filled,
        (long) node.max * part.longest);
  }
}
