package io.radixflow.text.regex;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/** An immutable set of code points, as sorted ranges. */
public final class CodePoints {
  public static final int MAX = 0x10FFFF;

  public static final CodePoints NONE = new CodePoints(new int[0]);
  public static final CodePoints ALL = new CodePoints(new int[] {0, MAX});

  /** All code points but the surrogates, which UTF-8 does not have. */
  public static final CodePoints SCALARS =
      new CodePoints(new int[] {0, Character.MIN_SURROGATE - 1, Character.MAX_SURROGATE + 1, MAX});

  /** First and last value of each range. */
  private final int[] bounds;

  private CodePoints(int[] bounds) {
    this.bounds = bounds;
  }

  public static CodePoints of(int... values) {
    CodePoints set = NONE;
    for (int value : values) {
      set = set.or(range(value, value));
    }
    return set;
  }

  public static CodePoints range(int first, int last) {
    return first > last ? NONE : new CodePoints(new int[] {first, last});
  }

  static CodePoints matching(IntPredicate test) {
    return grouped(value -> test.test(value) ? 1 : 0).getOrDefault(1, NONE);
  }

  /** Groups all code points by the number of each. */
  static Map<Integer, CodePoints> grouped(IntUnaryOperator numberOf) {
    Map<Integer, List<Integer>> bounds = new HashMap<>();
    int first = 0;
    int number = numberOf.applyAsInt(0);
    for (int value = 1; value <= MAX + 1; value++) {
      int next = value > MAX ? -1 : numberOf.applyAsInt(value);
      if (next != number) {
        Collections.addAll(
            bounds.computeIfAbsent(number, n -> new ArrayList<>()), first, value - 1);
        first = value;
        number = next;
      }
    }
    Map<Integer, CodePoints> sets = new HashMap<>();
    bounds.forEach(
        (each, ranges) ->
            sets.put(each, new CodePoints(ranges.stream().mapToInt(Integer::intValue).toArray())));
    return sets;
  }

  public boolean isEmpty() {
    return bounds.length == 0;
  }

  /** The only value of the set, or -1 if there is none or more than one. */
  int only() {
    return bounds.length == 2 && bounds[0] == bounds[1] ? bounds[0] : -1;
  }

  private int ranges() {
    return bounds.length / 2;
  }

  public boolean contains(int value) {
    return covers(value, value) == 1;
  }

  /** Returns 0 if no value of a range is in the set, 1 if all are, 2 otherwise. */
  public int covers(int first, int last) {
    int low = 0;
    int high = ranges();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (bounds[2 * middle + 1] < first) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low == ranges() || bounds[2 * low] > last) {
      return 0;
    }
    return bounds[2 * low] <= first && bounds[2 * low + 1] >= last ? 1 : 2;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CodePoints that && Arrays.equals(bounds, that.bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }

  public CodePoints or(CodePoints other) {
    int[] merged = new int[bounds.length + other.bounds.length];
    int count = 0;
    int mine = 0;
    int others = 0;
    while (mine < bounds.length || others < other.bounds.length) {
      boolean takeMine =
          others == other.bounds.length
              || mine < bounds.length && bounds[mine] <= other.bounds[others];
      int first = takeMine ? bounds[mine] : other.bounds[others];
      int last = takeMine ? bounds[mine + 1] : other.bounds[others + 1];
      mine += takeMine ? 2 : 0;
      others += takeMine ? 0 : 2;
      if (count > 0 && merged[count - 1] >= first - 1) {
        merged[count - 1] = Math.max(merged[count - 1], last);
      } else {
        merged[count++] = first;
        merged[count++] = last;
      }
    }
    return new CodePoints(Arrays.copyOf(merged, count));
  }

  public CodePoints and(CodePoints other) {
    int[] common = new int[2 * (bounds.length + other.bounds.length)];
    int count = 0;
    int mine = 0;
    int others = 0;
    while (mine < bounds.length && others < other.bounds.length) {
      int first = Math.max(bounds[mine], other.bounds[others]);
      int last = Math.min(bounds[mine + 1], other.bounds[others + 1]);
      if (first <= last) {
        common[count++] = first;
        common[count++] = last;
      }
      if (bounds[mine + 1] < other.bounds[others + 1]) {
        mine += 2;
      } else {
        others += 2;
      }
    }
    return new CodePoints(Arrays.copyOf(common, count));
  }

  public CodePoints negate() {
    int[] rest = new int[bounds.length + 2];
    int count = 0;
    int next = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      if (bounds[i] > next) {
        rest[count++] = next;
        rest[count++] = bounds[i] - 1;
      }
      next = bounds[i + 1] + 1;
    }
    if (next <= MAX) {
      rest[count++] = next;
      rest[count++] = MAX;
    }
    return new CodePoints(Arrays.copyOf(rest, count));
  }

  public CodePoints minus(CodePoints other) {
    return and(other.negate());
  }

  /** Adds the other cases of each value. */
  public CodePoints foldCase() {
    CodePoints folded = this;
    if (size() < Folds.GROUPS.size()) {
      for (int i = 0; i < bounds.length; i += 2) {
        for (int value = bounds[i]; value <= bounds[i + 1]; value++) {
          int[] group = Folds.OF_MEMBER.get(value);
          folded = group == null ? folded : folded.or(of(group));
        }
      }
      return folded;
    }
    for (int[] group : Folds.GROUPS) {
      for (int member : group) {
        if (contains(member)) {
          folded = folded.or(of(group));
          break;
        }
      }
    }
    return folded;
  }

  private int size() {
    int size = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      size += bounds[i + 1] - bounds[i] + 1;
    }
    return size;
  }

  /** Code points that differ only by case; computed at the first use. */
  private static final class Folds {
    static final List<int[]> GROUPS = groups();
    static final Map<Integer, int[]> OF_MEMBER = new HashMap<>();

    static {
      for (int[] group : GROUPS) {
        for (int member : group) {
          OF_MEMBER.put(member, group);
        }
      }
    }

    private Folds() {}

    private static int fold(int value) {
      return Character.toLowerCase(Character.toUpperCase(value));
    }

    private static List<int[]> groups() {
      CodePoints cased =
          matching(v -> Character.toUpperCase(v) != v || Character.toLowerCase(v) != v);
      Map<Integer, List<Integer>> groups = new TreeMap<>();
      for (int i = 0; i < cased.bounds.length; i += 2) {
        for (int v = cased.bounds[i]; v <= cased.bounds[i + 1]; v++) {
          groups.computeIfAbsent(fold(v), k -> new ArrayList<>()).add(v);
        }
      }
      return groups.values().stream()
          .filter(group -> group.size() > 1)
          .map(group -> group.stream().mapToInt(Integer::intValue).toArray())
          .toList();
    }
  }
}
