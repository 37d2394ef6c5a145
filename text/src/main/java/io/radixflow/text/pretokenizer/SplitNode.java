package io.radixflow.text.pretokenizer;

/**
 * A step of a {@link SplitPattern}: matches at a position and passes on to the step that follows
 * it, until one fails or the end of the pattern is reached.
 */
abstract class SplitNode {

  /** The most nested repetitions of groups; beyond it a group is not repeated again. */
  private static final int DEEPEST = 1_000;

  /** A text, and how many steps are left for it: patterns of a model file are not trusted. */
  static final class Input {
    final char[] text;
    final int from;
    final int to;
    private long steps;
    private int depth;
    private int here;

    Input(char[] text, int from, int to) {
      this.text = text;
      this.from = from;
      this.to = to;
      steps = 10_000 + 1_000L * (to - from);
    }

    /** The position of the innermost look-behind under test. */
    int here() {
      return here;
    }

    /**
     * Returns whether a pattern that ends with {@link #here} matches from one of the positions
     * {@code least} to {@code most} code points before {@code at}.
     */
    boolean endsHere(SplitNode pattern, int least, int most, int at) {
      int outer = here;
      here = at;
      boolean found = false;
      int begin = at;
      for (int back = 0; back <= most && !found && steps-- > 0; back++) {
        found = back >= least && pattern.match(this, begin) >= 0;
        if (begin == from) {
          break;
        }
        begin -= Character.charCount(before(begin));
      }
      here = outer;
      return found;
    }

    int before(int at) {
      return Character.codePointBefore(text, at, from);
    }

    int codePoint(int at) {
      return Character.codePointAt(text, at, to);
    }
  }

  /** Returns the end of the match, or -1. */
  abstract int match(Input in, int at);

  /** A condition on a position, such as {@code ^} or {@code \b}. */
  interface Assertion {
    boolean holds(Input in, int at);
  }

  /** The end of a pattern. */
  static SplitNode end() {
    return new SplitNode() {
      @Override
      int match(Input in, int at) {
        return at;
      }
    };
  }

  static SplitNode assertion(Assertion assertion, SplitNode next) {
    return new SplitNode() {
      @Override
      int match(Input in, int at) {
        return assertion.holds(in, at) ? next.match(in, at) : -1;
      }
    };
  }

  /** A pattern that is matched by itself and not tried in another way afterwards. */
  static SplitNode atomic(SplitNode inner, SplitNode next) {
    return new SplitNode() {
      @Override
      int match(Input in, int at) {
        int end = inner.match(in, at);
        return end < 0 ? -1 : next.match(in, end);
      }
    };
  }

  /** Alternatives in their order; the continuation is part of each. */
  static SplitNode branch(SplitNode... alternatives) {
    return new SplitNode() {
      @Override
      int match(Input in, int at) {
        for (SplitNode alternative : alternatives) {
          if (in.steps-- <= 0) {
            return -1;
          }
          int end = alternative.match(in, at);
          if (end >= 0) {
            return end;
          }
        }
        return -1;
      }
    };
  }

  /** Repeats a body that never matches the empty text any number of times. */
  static final class Repeat extends SplitNode {
    private final boolean lazy;
    private final SplitNode next;
    private SplitNode body;

    Repeat(boolean lazy, SplitNode next) {
      this.lazy = lazy;
      this.next = next;
    }

    /** Sets the body; it continues with this node. */
    void body(SplitNode repeated) {
      body = repeated;
    }

    @Override
    int match(Input in, int at) {
      if (lazy) {
        int end = next.match(in, at);
        return end >= 0 ? end : again(in, at);
      }
      int end = again(in, at);
      return end >= 0 ? end : next.match(in, at);
    }

    private int again(Input in, int at) {
      if (in.depth == DEEPEST || in.steps-- <= 0) {
        return -1;
      }
      in.depth++;
      int end = body.match(in, at);
      in.depth--;
      return end;
    }
  }

  /** A run of code points of one set. */
  static final class Run extends SplitNode {
    private final CodePointSet set;
    private final int least;
    private final int most;
    private final boolean lazy;
    private final SplitNode next;

    Run(CodePointSet set, int least, int most, boolean lazy, SplitNode next) {
      this.set = set;
      this.least = least;
      this.most = most;
      this.lazy = lazy;
      this.next = next;
    }

    @Override
    int match(Input in, int at) {
      int count = 0;
      int end = at;
      int goal = lazy ? least : most;
      while (count < goal && takes(in, end)) {
        end += Character.charCount(in.codePoint(end));
        count++;
      }
      return count < least ? -1 : lazy ? forward(in, end, count) : back(in, end, count);
    }

    private boolean takes(Input in, int at) {
      return at < in.to && set.contains(in.codePoint(at));
    }

    private int back(Input in, int from, int taken) {
      int end = from;
      for (int count = taken; ; count--) {
        int match = next.match(in, end);
        if (match >= 0 || count == least || in.steps-- <= 0) {
          return match;
        }
        end -= Character.charCount(in.before(end));
      }
    }

    private int forward(Input in, int from, int taken) {
      int end = from;
      for (int count = taken; ; count++) {
        int match = next.match(in, end);
        if (match >= 0 || count == most || in.steps-- <= 0 || !takes(in, end)) {
          return match;
        }
        end += Character.charCount(in.codePoint(end));
      }
    }
  }
}
