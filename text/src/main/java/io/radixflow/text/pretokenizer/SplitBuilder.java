package io.radixflow.text.pretokenizer;

import io.radixflow.models.ModelFormatException;
import io.radixflow.text.regex.CodePoints;
import io.radixflow.text.regex.RegexBuilder;
import java.util.List;
import java.util.function.UnaryOperator;

/** Makes the steps of a {@link SplitPattern}. */
final class SplitBuilder implements RegexBuilder<SplitBuilder.Part> {

  /** A higher count is refused, because a group is copied as often as it is repeated. */
  private static final int MOST_REPEATS = 1_000;

  /** The most steps that a pattern may have after its groups are copied. */
  private static final int MOST_STEPS = 20_000;

  private static final long ENDLESS = Integer.MAX_VALUE;

  /** The most code points that a look-behind may look back. */
  private static final int FARTHEST_BACK = 255;

  /**
   * A part of the pattern.
   *
   * @param before makes its steps, given the steps that follow
   * @param least the least number of code points that it matches
   * @param most the greatest number of code points; {@link #ENDLESS} if there is none
   * @param steps how many steps it has
   * @param set the code points that match, if the part matches a single code point; else null
   */
  record Part(UnaryOperator<SplitNode> before, int least, long most, int steps, CodePointSet set) {

    SplitNode start() {
      return before.apply(SplitNode.end());
    }
  }

  @Override
  public Part one(CodePoints points) {
    CodePointSet set = new CodePointSet(points);
    return new Part(next -> new SplitNode.Run(set, 1, 1, false, next), 1, 1, 1, set);
  }

  @Override
  public Part text(String text) {
    return sequence(text.codePoints().mapToObj(c -> one(CodePoints.of(c))).toList());
  }

  @Override
  public Part sequence(List<Part> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    return new Part(
        next -> {
          SplitNode node = next;
          for (int i = parts.size() - 1; i >= 0; i--) {
            node = parts.get(i).before.apply(node);
          }
          return node;
        },
        parts.stream().mapToInt(Part::least).sum(),
        Math.min(ENDLESS, parts.stream().mapToLong(Part::most).sum()),
        checked(parts.stream().mapToLong(Part::steps).sum()),
        null);
  }

  @Override
  public Part either(List<Part> parts) {
    if (parts.size() == 1) {
      return parts.get(0);
    }
    return new Part(
        next ->
            SplitNode.branch(
                parts.stream().map(p -> p.before.apply(next)).toArray(SplitNode[]::new)),
        parts.stream().mapToInt(Part::least).min().getAsInt(),
        parts.stream().mapToLong(Part::most).max().getAsLong(),
        checked(parts.stream().mapToLong(Part::steps).sum()),
        null);
  }

  private static int checked(long steps) {
    if (steps > MOST_STEPS) {
      throw new ModelFormatException("more than " + MOST_STEPS + " steps");
    }
    return (int) steps;
  }

  @Override
  public Part repeat(Part part, int least, int most, Greed greed) {
    if (least > MOST_REPEATS || most < ENDLESS && most > MOST_REPEATS) {
      throw new ModelFormatException("more than " + MOST_REPEATS + " repetitions");
    }
    boolean lazy = greed == Greed.LAZY;
    Part repeated =
        part.set != null
            ? new Part(
                next -> new SplitNode.Run(part.set, least, most, lazy, next), least, most, 1, null)
            : repeatedGroup(part, least, most, lazy);
    return greed == Greed.POSSESSIVE ? atomic(repeated) : repeated;
  }

  private static Part repeatedGroup(Part part, int least, int most, boolean lazy) {
    boolean endless = most == ENDLESS;
    if (endless && part.least == 0) {
      throw new ModelFormatException("endless repetitions of a group that may match nothing");
    }
    int optional = endless ? 1 : most - least;
    return new Part(
        next -> {
          SplitNode node = next;
          if (endless) {
            SplitNode.Repeat repeat = new SplitNode.Repeat(lazy, next);
            repeat.body(part.before.apply(repeat));
            node = repeat;
          } else {
            for (int i = 0; i < optional; i++) {
              SplitNode once = part.before.apply(node);
              node = lazy ? SplitNode.branch(next, once) : SplitNode.branch(once, next);
            }
          }
          for (int i = 0; i < least; i++) {
            node = part.before.apply(node);
          }
          return node;
        },
        part.least * least,
        Math.min(ENDLESS, part.most * most),
        checked((long) part.steps * (least + optional) + 1),
        null);
  }

  @Override
  public Part atomic(Part inner) {
    return new Part(
        next -> SplitNode.atomic(inner.start(), next),
        inner.least,
        inner.most,
        inner.steps + 1,
        null);
  }

  private static Part position(SplitNode.Assertion assertion) {
    return new Part(next -> SplitNode.assertion(assertion, next), 0, 0, 1, null);
  }

  @Override
  public Part end() {
    return position((in, i) -> i == in.to);
  }

  @Override
  public Part behind(CodePoints points, boolean start) {
    CodePointSet set = new CodePointSet(points);
    return position((in, i) -> i == in.from ? start : set.contains(in.before(i)));
  }

  @Override
  public Part ahead(Part inner, boolean negated) {
    return new Part(
        next -> {
          SplitNode ahead = inner.start();
          return SplitNode.assertion((in, i) -> ahead.match(in, i) < 0 == negated, next);
        },
        0,
        0,
        inner.steps + 1,
        null);
  }

  /** Tries the pattern from each earlier position from which it can end here. */
  @Override
  public Part lookBehind(Part inner, boolean negated) {
    if (inner.most > FARTHEST_BACK) {
      throw new ModelFormatException(
          "a look-behind over more than " + FARTHEST_BACK + " characters");
    }
    return new Part(
        next -> {
          SplitNode ends =
              inner.before.apply(SplitNode.assertion((in, i) -> i == in.here(), SplitNode.end()));
          return SplitNode.assertion(
              (in, i) -> in.endsHere(ends, inner.least, (int) inner.most, i) != negated, next);
        },
        0,
        0,
        inner.steps + 1,
        null);
  }
}
