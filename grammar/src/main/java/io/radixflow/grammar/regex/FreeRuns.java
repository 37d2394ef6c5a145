package io.radixflow.grammar.regex;

import io.radixflow.grammar.regex.Regex.Kind;
import java.util.Arrays;

/** Finds the {@link FreeRun} of expressions that have a match, by their form alone. */
record FreeRuns(Regex anyCharacter) {
  /** The most levels of an expression to look at. */
  private static final int DEPTH = 64;

  FreeRun of(Regex node) {
    if (node.free == null) {
      node.free = node.depth > DEPTH ? FreeRun.NONE : find(node);
    }
    return node.free;
  }

  private FreeRun find(Regex node) {
    switch (node.kind) {
      case REPEAT:
        return new FreeRun(singles(node.parts[0]), node.max, false);
      case CONCAT:
        FreeRun first = of(node.parts[0]);
        boolean closed = isCounted(node.parts[0]) && beginsWithMark(node.parts[1]);
        return new FreeRun(first.groups(), first.length(), closed);
      case JSON:
        FreeRun value = node.min == 0 ? of(node.parts[0]) : FreeRun.NONE;
        return new FreeRun(value.groups() & CharacterGroups.JSON, value.length(), false);
      case OR:
        FreeRun best = FreeRun.NONE;
        for (Regex part : node.parts) {
          best = part.surelyAlive ? best.orBetter(of(part)) : best;
        }
        return new FreeRun(best.groups(), best.length(), false);
      case AND:
        return intersection(node);
      default:
        return FreeRun.NONE;
    }
  }

  /**
   * Returns the run that all parts allow, if they are repeated characters. Exceptions of bounded
   * length do not restrict an endless run, because each text can become longer than they are.
   */
  private FreeRun intersection(Regex node) {
    FreeRun common = null;
    boolean counted = true;
    int others = 0;
    for (Regex part : node.parts) {
      if (part.kind == Kind.NOT && part.parts[0].longest < Regex.MANY) {
        continue;
      }
      others++;
      FreeRun run = of(part);
      counted &= isRepeatedCharacter(part);
      common =
          common == null
              ? run
              : new FreeRun(
                  common.groups() & run.groups(), Math.min(common.length(), run.length()), false);
    }
    boolean exceptions = others < node.parts.length;
    boolean endless = common != null && common.length() == Regex.MANY;
    boolean known = exceptions ? others == 1 && endless : counted;
    return known ? common : FreeRun.NONE;
  }

  /** Returns whether no match has more characters than its free run. */
  private boolean isCounted(Regex node) {
    return switch (node.kind) {
      case REPEAT -> isRepeatedCharacter(node);
      case JSON -> node.min == 0 && isCounted(node.parts[0]);
      case AND -> Arrays.stream(node.parts).allMatch(this::isRepeatedCharacter);
      default -> false;
    };
  }

  /** Returns whether each match begins with a byte that does not stand for itself in JSON. */
  private static boolean beginsWithMark(Regex node) {
    Regex leaf = node.kind == Kind.CONCAT ? node.parts[0] : node;
    if (leaf.kind != Kind.LEAF || leaf.nullable) {
      return false;
    }
    for (int edge = 0; edge < leaf.parts.length; edge++) {
      for (int b = leaf.edges[2 * edge]; b <= leaf.edges[2 * edge + 1]; b++) {
        if (b >= 0x80 || (CharacterGroups.ofAscii(b) & CharacterGroups.JSON) != 0) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean isRepeatedCharacter(Regex node) {
    return node.kind == Kind.REPEAT && isCharacter(node.parts[0]);
  }

  /** Returns whether all matches are single characters. */
  private boolean isCharacter(Regex node) {
    return node.kind == Kind.LEAF && node.aligned && node.shortest == 1 && node.longest == 1;
  }

  /** Returns the groups whose every character is a match of an expression. */
  private long singles(Regex node) {
    if (node.singles < 0) {
      node.singles = findSingles(node);
    }
    return node.singles;
  }

  private long findSingles(Regex node) {
    if (node.kind == Kind.OR) {
      long groups = 0;
      for (Regex part : node.parts) {
        groups |= singles(part);
      }
      return groups;
    }
    if (node.kind == Kind.REPEAT && node.min <= 1) {
      return singles(node.parts[0]);
    }
    return node.kind == Kind.LEAF ? ofLeaf(node) : 0;
  }

  private long ofLeaf(Regex leaf) {
    long missing = 0;
    for (int first = 0; first <= 0xFF; first++) {
      int length = CharacterGroups.length(first);
      if (length == 0) {
        continue;
      }
      Regex target = Derivatives.follow(leaf, first);
      if (length == 1) {
        missing |= target != null && target.nullable ? 0 : CharacterGroups.ofAscii(first);
      } else if (target != Derivatives.follow(anyCharacter, first)) {
        missing |= CharacterGroups.ofLength(length);
      }
    }
    return CharacterGroups.ALL & ~missing;
  }
}
