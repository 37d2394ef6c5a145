package io.radixflow.kernels.grammar.regex;

import io.radixflow.kernels.grammar.regex.Regex.Kind;

/** Finds the {@link FreeRun} of expressions that have a match, by their form alone. */
final class FreeRuns {
  /** Levels of an expression that are looked at. */
  private static final int DEPTH = 64;

  private final Regex anyCharacter;

  FreeRuns(Regex anyCharacter) {
    this.anyCharacter = anyCharacter;
  }

  FreeRun of(Regex node) {
    if (node.free == null) {
      node.free = node.depth > DEPTH ? FreeRun.NONE : find(node);
    }
    return node.free;
  }

  private FreeRun find(Regex node) {
    switch (node.kind) {
      case REPEAT:
        return new FreeRun(singles(node.parts[0]), node.max);
      case CONCAT:
        return of(node.parts[0]);
      case JSON:
        FreeRun value = node.min == 0 ? of(node.parts[0]) : FreeRun.NONE;
        return new FreeRun(value.groups() & CharacterGroups.JSON, value.length());
      case OR:
        FreeRun best = FreeRun.NONE;
        for (Regex part : node.parts) {
          best = part.surelyAlive ? best.orBetter(of(part)) : best;
        }
        return best;
      case AND:
        return intersection(node);
      default:
        return FreeRun.NONE;
    }
  }

  /**
   * Of counted characters, what all have in common. Exceptions of bounded length take nothing from
   * what can go on without end, since each text can become longer than they are.
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
      counted &= part.kind == Kind.REPEAT && isCharacter(part.parts[0]);
      common =
          common == null
              ? run
              : new FreeRun(
                  common.groups() & run.groups(), Math.min(common.length(), run.length()));
    }
    boolean exceptions = others < node.parts.length;
    boolean endless = common != null && common.length() == Regex.MANY;
    boolean known = exceptions ? others == 1 && endless : counted;
    return known ? common : FreeRun.NONE;
  }

  /** Returns whether all matches are single characters. */
  private boolean isCharacter(Regex node) {
    return node == anyCharacter || node.kind == Kind.LEAF && node.longest == 1;
  }

  /** The groups of which an expression matches each single character. */
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
      Regex target = RegexPool.follow(leaf, first);
      if (length == 1) {
        missing |= target != null && target.nullable ? 0 : CharacterGroups.ofAscii(first);
      } else if (target != RegexPool.follow(anyCharacter, first)) {
        missing |= CharacterGroups.ofLength(length);
      }
    }
    return CharacterGroups.ALL & ~missing;
  }
}
