package io.radixflow.kernels.cuda.step;

/** Sizes that steps are filled up to, so that few programs and graphs serve all: powers of two. */
final class StepSizes {

  private StepSizes() {}

  /** The number of the smallest bucket that holds {@code count}, at least 1. */
  static int number(int count) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
  }

  /** The size of the smallest bucket that holds {@code count}, at most {@code most}. */
  static int size(int count, int most) {
    return Math.min(1 << number(count), most);
  }
}
