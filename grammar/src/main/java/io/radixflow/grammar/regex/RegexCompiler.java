package io.radixflow.grammar.regex;

import io.radixflow.text.regex.CodePoints;
import io.radixflow.text.regex.RegexDialect;
import io.radixflow.text.regex.RegexException;
import io.radixflow.text.regex.RegexParser;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Computes the language of a regular expression, which may look ahead, and back at one character.
 * Each tree is compiled together with the language of the text after it: a look-ahead is an
 * intersection with that language. A look-behind depends only on the last character, so there is a
 * language for each kind of last character. Index 0 is the start of the text; further indexes are
 * sets of characters that no look-behind tells apart.
 */
public final class RegexCompiler {
  private static final int MAX_SETS = 6;
  private static final int MAX_COPIES = 256;

  /** Which of the texts that a tree matches are meant. */
  private enum Texts {
    ALL,
    EMPTY,
    NOT_EMPTY
  }

  private final RegexPool pool;

  /** The characters of each index; null for the first, the start of the text. */
  private final List<CodePoints> before = new ArrayList<>();

  private RegexCompiler(RegexPool pool, RegexTree tree) {
    this.pool = pool;
    Set<CodePoints> sets = new HashSet<>();
    collect(tree, sets);
    if (sets.size() > MAX_SETS) {
      throw GrammarException.tooLarge(
          "an expression looks back at more than " + MAX_SETS + " sets of characters");
    }
    before.add(CodePoints.SCALARS);
    for (CodePoints set : sets) {
      List<CodePoints> parts = new ArrayList<>();
      for (CodePoints known : before) {
        parts.add(known.and(set));
        parts.add(known.minus(set));
      }
      before.clear();
      parts.stream().filter(part -> !part.isEmpty()).forEach(before::add);
    }
    before.add(0, null);
  }

  private static void collect(RegexTree tree, Set<CodePoints> sets) {
    if (tree.kind() == RegexTree.Kind.BEHIND) {
      sets.add(tree.set());
    }
    tree.parts().forEach(part -> collect(part, sets));
  }

  /** A source text and its flags; the flags are null if a match is searched for. */
  private record Source(String text, String flags) {}

  /** An expression in Rust's syntax that matches a text as a whole. */
  public static Regex whole(RegexPool pool, String text, String flags) {
    return pool.parsed(
        new Source(text, flags),
        () -> {
          RegexTree tree = parse(pool, text, RegexDialect.RUST, flags);
          return tree.isPlain() ? tree.plain() : of(pool, tree, pool.epsilon);
        });
  }

  /**
   * Returns the expression of the values that contain a match of a schema's {@code pattern}, in
   * ECMA-262's syntax.
   */
  public static Regex pattern(RegexPool pool, String text) {
    return pool.parsed(
        new Source(text, null),
        () -> {
          RegexTree tree = parse(pool, text, RegexDialect.ECMA, "");
          RegexTree any = RegexTree.plain(pool.anyText, null);
          RegexTree searched = new TreeBuilder(pool).sequence(List.of(any, tree));
          return of(pool, searched, pool.anyText);
        });
  }

  private static RegexTree parse(RegexPool pool, String text, RegexDialect dialect, String flags) {
    try {
      return RegexParser.parse(text, dialect, flags, new TreeBuilder(pool));
    } catch (RegexException e) {
      throw e.offset() < 0
          ? GrammarException.tooLarge(e.getMessage())
          : new GrammarException("regex", "offset " + e.offset(), e.getMessage());
    }
  }

  private static Regex of(RegexPool pool, RegexTree tree, Regex after) {
    RegexCompiler compiler = new RegexCompiler(pool, tree);
    return compiler.compile(tree, compiler.same(after), Texts.ALL)[0];
  }

  private Regex[] same(Regex regex) {
    Regex[] all = new Regex[before.size()];
    Arrays.fill(all, regex);
    return all;
  }

  /**
   * @param after the language of the text after the tree, by the kind of the last character before
   *     that text
   * @return the language of both, by the kind of the last character before them
   */
  private Regex[] compile(RegexTree tree, Regex[] after, Texts texts) {
    pool.spend(before.size());
    return switch (tree.kind()) {
      case PLAIN -> plain(tree.plain(), after, texts);
      case PAIR -> pair(tree.parts().get(0), tree.parts().get(1), after, texts);
      case EITHER -> {
        Regex[] any = same(pool.empty);
        for (RegexTree part : tree.parts()) {
          any = or(any, compile(part, after, texts));
        }
        yield any;
      }
      case REPEAT -> repeated(tree, after, texts);
      default -> texts == Texts.NOT_EMPTY ? same(pool.empty) : looked(tree, after);
    };
  }

  private Regex[] or(Regex[] one, Regex[] other) {
    Regex[] both = new Regex[one.length];
    Arrays.setAll(both, i -> one[i] == other[i] ? one[i] : pool.or(one[i], other[i]));
    return both;
  }

  private Regex[] pair(RegexTree first, RegexTree second, Regex[] after, Texts texts) {
    if (texts == Texts.EMPTY) {
      return compile(first, compile(second, after, Texts.EMPTY), Texts.EMPTY);
    }
    Regex[] all = compile(first, compile(second, after, Texts.ALL), texts);
    return texts == Texts.ALL
        ? all
        : or(all, compile(first, compile(second, after, Texts.NOT_EMPTY), Texts.EMPTY));
  }

  private Regex[] looked(RegexTree tree, Regex[] after) {
    Regex[] ahead =
        tree.kind() == RegexTree.Kind.AHEAD
            ? compile(tree.parts().get(0), same(pool.all), Texts.ALL)
            : null;
    Regex[] held = same(pool.empty);
    for (int i = 0; i < held.length; i++) {
      switch (tree.kind()) {
        case END -> held[i] = after[i].nullable ? pool.epsilon : pool.empty;
        case AHEAD -> held[i] = pool.and(after[i], tree.negated() ? pool.not(ahead[i]) : ahead[i]);
        default -> {
          boolean holds = i == 0 ? tree.start() : !before.get(i).and(tree.set()).isEmpty();
          held[i] = holds ? after[i] : pool.empty;
        }
      }
    }
    return held;
  }

  private Regex[] plain(Regex regex, Regex[] after, Texts texts) {
    if (texts == Texts.EMPTY) {
      return regex.nullable ? after : same(pool.empty);
    }
    boolean empty = regex.nullable && texts == Texts.ALL;
    boolean uniform = true;
    for (int i = 2; i < after.length; i++) {
      uniform &= after[i] == after[1];
    }
    if (uniform && (!empty || after[0] == after[1])) {
      return same(pool.concat(empty ? regex : pool.nonEmpty(regex), after[1]));
    }
    Regex more = pool.nonEmpty(regex);
    Regex later = pool.empty;
    for (int i = 1; i < after.length; i++) {
      Regex ending =
          uniform ? more : pool.and(more, pool.concat(pool.anyText, pool.chars(before.get(i))));
      later = pool.or(later, pool.concat(ending, after[i]));
    }
    return empty ? or(after, same(later)) : same(later);
  }

  private Regex[] repeated(RegexTree tree, Regex[] after, Texts texts) {
    RegexTree part = tree.parts().get(0);
    boolean endless = tree.max() == Regex.MANY;
    int copies = endless ? tree.min() : tree.max();
    if (copies > MAX_COPIES) {
      throw GrammarException.tooLarge(
          "a part that looks around is repeated more than " + MAX_COPIES + " times");
    }
    if (texts == Texts.EMPTY) {
      return tree.min() == 0 ? after : compile(part, after, Texts.EMPTY);
    }
    boolean wanted = texts == Texts.NOT_EMPTY;
    // The rest of the repetitions, and the rest without its empty text.
    Regex[] all = endless ? loop(part, after) : after;
    Regex[] some = endless && wanted ? compile(part, all, Texts.NOT_EMPTY) : same(pool.empty);
    for (int left = copies; left > 0; left--) {
      boolean optional = left > tree.min();
      Regex[] once = optional || wanted ? compile(part, all, Texts.NOT_EMPTY) : null;
      some = wanted ? or(once, compile(part, some, Texts.EMPTY)) : some;
      all = optional ? or(after, once) : compile(part, all, Texts.ALL);
    }
    return wanted ? some : all;
  }

  /** Returns a part any number of times, each time with a text that is not empty. */
  private Regex[] loop(RegexTree part, Regex[] after) {
    Regex[] loops = new Regex[after.length];
    Arrays.setAll(loops, i -> pool.loop(after[i]));
    Regex[] bodies = or(after, compile(part, loops, Texts.NOT_EMPTY));
    for (int i = 0; i < loops.length; i++) {
      loops[i].body = bodies[i];
      loops[i].cost = Math.max(loops[i].cost, bodies[i].cost);
    }
    return loops;
  }
}
