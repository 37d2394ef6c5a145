package io.radixflow.text.jinja.value;

/**
 * The resources that one rendering may still use: steps (instead of time), the total number of
 * bytes to allocate, and the depth of recursion. Code must call this before it allocates. Only one
 * thread may use it.
 */
public final class Budget {
  private static final long MOST_STEPS = 20_000_000;
  private static final long LEAST_BYTES = 64L << 20;
  private static final long MOST_BYTES = 512L << 20;
  private static final int BYTES_PER_INPUT_CHAR = 64;
  private static final int DEEPEST = 100;

  private long steps = MOST_STEPS;
  private long bytes;
  private int depth;

  /**
   * @param inputChars number of characters in the input of the rendering
   */
  public Budget(long inputChars) {
    bytes = Math.min(MOST_BYTES, LEAST_BYTES + BYTES_PER_INPUT_CHAR * inputChars);
  }

  /** Counts one operation. */
  public void step() {
    work(1);
  }

  public void work(long operations) {
    steps -= operations;
    if (steps < 0) {
      throw JinjaException.limit("the template runs too long");
    }
  }

  /** Counts a text that is about to be created. */
  public void chars(long count) {
    allocate(count, 2);
    work(1 + (count >> 4));
  }

  /** Counts a collection that is about to be created. */
  public void items(long count) {
    allocate(count, 24);
    work(1 + count);
  }

  private void allocate(long count, int size) {
    if (count > bytes / size) {
      throw JinjaException.limit("the template needs too much memory");
    }
    bytes -= count * size + 48;
  }

  /** Counts one level of recursion, which {@link #leave} ends. */
  public void enter() {
    if (++depth > DEEPEST) {
      throw JinjaException.of("RecursionError", "the template or its data is nested too deep");
    }
  }

  public void leave() {
    depth--;
  }
}
