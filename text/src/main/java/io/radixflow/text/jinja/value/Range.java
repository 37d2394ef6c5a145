package io.radixflow.text.jinja.value;

import java.util.Iterator;
import java.util.stream.LongStream;

/** The numbers from {@code start} to before {@code stop}. {@code step} is not 0. */
public record Range(long start, long stop, long step) {
  private static final long LONGEST = 100_000;

  public Range {
    if (step == 0) {
      throw JinjaException.value("range() arg 3 must not be zero");
    }
    if (length(start, stop, step) > LONGEST) {
      throw JinjaException.of(
          "OverflowError", "Range too big. The sandbox blocks ranges larger than %d.", LONGEST);
    }
  }

  private static long length(long start, long stop, long step) {
    double width = ((double) stop - start) / step;
    return width <= 0 ? 0 : (long) Math.ceil(width);
  }

  public int length() {
    return (int) length(start, stop, step);
  }

  public long get(long index) {
    return start + index * step;
  }

  Iterator<Object> iterator() {
    return LongStream.range(0, length()).<Object>mapToObj(this::get).iterator();
  }

  /** Returns every {@code by}-th number from index {@code from} to before {@code to}. */
  public Range slice(long from, long to, long by) {
    return new Range(get(from), get(to), step * by);
  }

  @Override
  public String toString() {
    return step == 1
        ? "range(" + start + ", " + stop + ")"
        : "range(" + start + ", " + stop + ", " + step + ")";
  }
}
