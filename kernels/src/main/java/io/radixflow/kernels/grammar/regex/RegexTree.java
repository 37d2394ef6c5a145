package io.radixflow.kernels.grammar.regex;

import java.util.ArrayList;
import java.util.List;

/**
 * A parsed regular expression that may hold anchors. {@link #regex} gives its language for a text
 * that does or does not begin, and does or does not end, with the match.
 */
final class RegexTree {
  /** The kinds of tree. */
  enum Kind {
    PLAIN,
    START,
    END,
    /** The first part, then the second. */
    PAIR,
    EITHER,
    REPEAT
  }

  private static final int MAX_ANCHORED_REPEAT = 20;

  private final Kind kind;
  private final Regex plain;
  private final List<RegexTree> parts;
  private final int min;
  private final int max;

  /** Languages by {@code start + 2 * end}. */
  private final Regex[] known = new Regex[4];

  private RegexTree(Kind kind, Regex plain, List<RegexTree> parts, int min, int max) {
    this.kind = kind;
    this.plain = plain;
    this.parts = parts;
    this.min = min;
    this.max = max;
  }

  static RegexTree plain(Regex regex) {
    return new RegexTree(Kind.PLAIN, regex, List.of(), 0, 0);
  }

  static RegexTree anchor(boolean start) {
    return new RegexTree(start ? Kind.START : Kind.END, null, List.of(), 0, 0);
  }

  boolean isPlain() {
    return kind == Kind.PLAIN;
  }

  Regex plain() {
    return plain;
  }

  static RegexTree sequence(RegexPool pool, List<RegexTree> parts) {
    RegexTree made = plain(pool.epsilon);
    for (int i = parts.size() - 1; i >= 0; i--) {
      RegexTree part = parts.get(i);
      if (part.isPlain() && made.isPlain()) {
        made = plain(pool.concat(part.plain, made.plain));
      } else {
        made = new RegexTree(Kind.PAIR, null, List.of(part, made), 0, 0);
      }
    }
    return made;
  }

  static RegexTree either(RegexPool pool, List<RegexTree> parts) {
    if (parts.stream().allMatch(RegexTree::isPlain)) {
      List<Regex> plain = new ArrayList<>();
      parts.forEach(part -> plain.add(part.plain));
      return plain(pool.or(plain));
    }
    return new RegexTree(Kind.EITHER, null, parts, 0, 0);
  }

  static RegexTree repeat(RegexPool pool, RegexTree part, int min, int max) {
    if (part.isPlain()) {
      return plain(pool.repeat(part.plain, min, max));
    }
    if (min > MAX_ANCHORED_REPEAT || max != Regex.MANY && max > MAX_ANCHORED_REPEAT) {
      throw new GrammarException("regex", "", "an anchor is repeated more than 20 times");
    }
    if (min == 0 && max == Regex.MANY) {
      return new RegexTree(Kind.REPEAT, null, List.of(part), 0, max);
    }
    List<RegexTree> copies = new ArrayList<>();
    for (int i = 0; i < min; i++) {
      copies.add(part);
    }
    if (max == Regex.MANY) {
      copies.add(repeat(pool, part, 0, max));
    }
    for (int i = min; max != Regex.MANY && i < max; i++) {
      copies.add(either(pool, List.of(plain(pool.epsilon), part)));
    }
    return sequence(pool, copies);
  }

  /** Returns the language of the texts that contain a match. */
  Regex searched(RegexPool pool) {
    Regex more = pool.nonEmpty(pool.anyText);
    Regex[] byEnd = new Regex[2];
    for (int end = 0; end < 2; end++) {
      Regex atStart = regex(pool, true, end == 1);
      Regex later = regex(pool, false, end == 1);
      byEnd[end] =
          atStart == later
              ? pool.concat(pool.anyText, atStart)
              : pool.or(atStart, pool.concat(more, later));
    }
    return byEnd[0] == byEnd[1]
        ? pool.concat(byEnd[0], pool.anyText)
        : pool.or(byEnd[1], pool.concat(byEnd[0], more));
  }

  Regex regex(RegexPool pool, boolean start, boolean end) {
    int index = (start ? 1 : 0) + (end ? 2 : 0);
    if (known[index] == null) {
      known[index] = build(pool, start, end);
    }
    return known[index];
  }

  private Regex build(RegexPool pool, boolean start, boolean end) {
    return switch (kind) {
      case PLAIN -> plain;
      case START -> start ? pool.epsilon : pool.empty;
      case END -> end ? pool.epsilon : pool.empty;
      case EITHER -> pool.or(parts.stream().map(part -> part.regex(pool, start, end)).toList());
      case REPEAT -> repeated(pool, start, end);
      case PAIR -> pair(pool, start, end);
    };
  }

  private Regex repeated(RegexPool pool, boolean start, boolean end) {
    RegexTree part = parts.get(0);
    Regex one = pool.nonEmpty(part.regex(pool, start, end));
    Regex head = pool.nonEmpty(part.regex(pool, start, false));
    Regex body = pool.nonEmpty(part.regex(pool, false, false));
    Regex tail = pool.nonEmpty(part.regex(pool, false, end));
    Regex many = pool.concat(head, pool.concat(pool.repeat(body, 0, Regex.MANY), tail));
    return pool.or(pool.epsilon, one, many);
  }

  /** The second part stands at the start only after an empty first one, and so at the end. */
  private Regex pair(RegexPool pool, boolean start, boolean end) {
    RegexTree first = parts.get(0);
    RegexTree second = parts.get(1);
    if (first.isPlain()) {
      Regex later = second.regex(pool, false, end);
      Regex now = first.plain.nullable ? second.regex(pool, start, end) : later;
      return now == later
          ? pool.concat(first.plain, later)
          : pool.or(now, pool.concat(pool.nonEmpty(first.plain), later));
    }
    if (second.isPlain()) {
      Regex before = first.regex(pool, start, false);
      Regex last = second.plain.nullable ? first.regex(pool, start, end) : before;
      return last == before
          ? pool.concat(before, second.plain)
          : pool.or(last, pool.concat(before, pool.nonEmpty(second.plain)));
    }
    List<Regex> cases = new ArrayList<>();
    Regex before = first.regex(pool, start, false);
    Regex after = second.regex(pool, false, end);
    cases.add(pool.concat(pool.nonEmpty(before), pool.nonEmpty(after)));
    if (before.nullable) {
      cases.add(pool.nonEmpty(second.regex(pool, start, end)));
    }
    if (after.nullable) {
      cases.add(pool.nonEmpty(first.regex(pool, start, end)));
    }
    if (first.regex(pool, start, end).nullable && second.regex(pool, start, end).nullable) {
      cases.add(pool.epsilon);
    }
    return pool.or(cases);
  }
}
