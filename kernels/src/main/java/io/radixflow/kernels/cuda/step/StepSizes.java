package io.radixflow.kernels.cuda.step;

/**
 * The sizes to which steps are padded: powers of two, so that only a few programs and graphs are
 * needed.
 */
final class StepSizes {

  private StepSizes() {}

  /** The number of the smallest bucket for {@code count}, which is at least 1. */
  static int number(int count) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
  }

  /** The size of the smallest bucket for {@code count}, but at most {@code most}. */
  static int size(int count, int most) {
    return Math.min(1 << number(count), most);
  }
}
