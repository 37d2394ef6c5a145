package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.Regex.Kind;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Decides which expressions match anything. Most are decided by their form; the others by a search
 * for a text, whose work is bounded by {@link Limits#SEARCH}. Each node keeps its result. Owned by
 * one pool; not thread-safe.
 */
public final class Liveness {
  private final RegexPool pool;
  private final Derivatives derivatives;

  /** Running searches, one within another. */
  private int searches;

  /** Work of the running search; of all searches until the grammar is compiled. */
  private long searchSteps;

  private boolean compiled;

  Liveness(RegexPool pool, Derivatives derivatives) {
    this.pool = pool;
    this.derivatives = derivatives;
  }

  /** Gives each later search a bound of its own. */
  void endCompilation() {
    compiled = true;
    searchSteps = 0;
  }

  /** Counts the work of a derivative if a search asked for it. */
  void spend(int amount) {
    if (searches > 0) {
      searchSteps += amount;
    }
  }

  /** Returns whether an expression matches any text. */
  public boolean isAlive(Regex node) {
    if (node.alive == 0) {
      node.alive = (byte) (decide(node) ? 1 : 2);
    }
    return node.alive == 1;
  }

  private boolean decide(Regex node) {
    if (node.shortest > node.longest || node.kind == Kind.EMPTY) {
      return false;
    }
    if (node.surelyAlive) {
      return true;
    }
    switch (node.kind) {
      case CONCAT:
        return isAlive(node.parts[0]) && isAlive(node.parts[1]);
      case OR:
        return Arrays.stream(node.parts).anyMatch(this::isAlive);
      case REPEAT:
        return isAlive(node.parts[0]);
      case JSON:
        return node.min == 0 ? isAlive(node.parts[0]) : anyEscapeLeads(node);
      case LOOP:
        return isAlive(node.parts[0]) || search(node);
      default:
        return isTextOfLength(node) || search(node);
    }
  }

  /**
   * Returns whether an intersection certainly has a match because its parts restrict only text and
   * its length.
   */
  private boolean isTextOfLength(Regex node) {
    if (node.kind != Kind.AND || node.parts.length != 2) {
      return false;
    }
    boolean swapped = isLength(node.parts[0]);
    Regex text = node.parts[swapped ? 1 : 0];
    Regex length = node.parts[swapped ? 0 : 1];
    if (!text.exact || !text.aligned || !isLength(length)) {
      return false;
    }
    return text.shortest >= length.min && text.shortest <= length.max
        || Math.max(text.filled, length.min) <= Math.min(text.longest, length.max);
  }

  /** Returns whether any text matches whose number of characters is in a range. */
  private boolean isLength(Regex node) {
    return node.kind == Kind.REPEAT && node.parts[0] == pool.anyCharacter;
  }

  private boolean anyEscapeLeads(Regex node) {
    for (int value : ByteClasses.JSON_ESCAPES) {
      Regex derived = derivatives.derive(node, value);
      if (derived != pool.empty && isAlive(derived)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Looks for a text of an intersection, a complement, a multiple or a loop. It first tries the
   * states from which the end may be nearest.
   */
  private boolean search(Regex start) {
    searches++;
    try {
      return findText(start);
    } finally {
      if (--searches == 0 && compiled) {
        searchSteps = 0;
      }
    }
  }

  /** An expression that a search has reached; the latest come first. */
  private record Reached(Regex node, int order) implements Comparable<Reached> {
    @Override
    public int compareTo(Reached other) {
      return node.shortest == other.node.shortest
          ? other.order - order
          : Integer.compare(node.shortest, other.node.shortest);
    }
  }

  private boolean findText(Regex start) {
    Map<Regex, Regex> reachedFrom = new HashMap<>();
    PriorityQueue<Reached> open = new PriorityQueue<>();
    reachedFrom.put(start, start);
    open.add(new Reached(start, 0));
    while (!open.isEmpty()) {
      Regex node = open.remove().node;
      for (int c = 0; c < derivatives.classCount(); c++) {
        if (++searchSteps > Limits.SEARCH) {
          throw GrammarException.tooLarge("its intersections take too long to decide");
        }
        Regex derived = derivatives.derive(node, derivatives.byteOf(c));
        if (derived == pool.empty || derived.alive == 2 || reachedFrom.containsKey(derived)) {
          continue;
        }
        reachedFrom.put(derived, node);
        boolean searched =
            derived.kind == Kind.AND
                || derived.kind == Kind.NOT
                || derived.kind == Kind.MULTIPLE
                || derived.looping;
        if (derived.nullable || derived.alive == 1 || !searched && isAlive(derived)) {
          for (Regex on = derived; on != start; on = reachedFrom.get(on)) {
            on.alive = 1;
          }
          return true;
        }
        if (searched && derived.shortest <= derived.longest) {
          open.add(new Reached(derived, reachedFrom.size()));
        }
      }
    }
    for (Regex dead : reachedFrom.keySet()) {
      dead.alive = 2;
    }
    return false;
  }
}
