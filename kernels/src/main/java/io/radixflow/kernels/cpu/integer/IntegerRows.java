package io.radixflow.kernels.cpu.integer;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.RowMemory;

/**
 * Rows of activations as 16-bit integers. Each block of 32 columns has a scale: its largest
 * absolute value divided by 32,767. An element is multiplied by 32,767 over the largest value, in
 * floats, and rounded to the nearest integer (ties to even). If the largest value of a block is
 * below 2<sup>-100</sup>, all its integers are zero. If a value is not finite, the scale is NaN and
 * the integers are zero.
 *
 * <p>Many threads write it, each its own rows. Buffers grow and are reused.
 */
public final class IntegerRows {

  static final int LARGEST = Short.MAX_VALUE;

  private final RowMemory memory;
  private int columns;
  private long version;
  private int[] numbers = new int[0];

  /**
   * Bits of {@code [row][columns / 2]}. In each group of four columns, columns 0 and 2 form a pair,
   * and columns 1 and 3 form a pair. The first column of a pair is in the low half.
   */
  Floats pairs = Floats.NONE;

  /** {@code [row][block of 32 columns]}. */
  Floats scales = Floats.NONE;

  /** The sums of 16 columns each: {@code [row][columns / 16]}. */
  Floats sums = Floats.NONE;

  /**
   * @param memory has the rows
   */
  public IntegerRows(RowMemory memory) {
    this.memory = memory;
  }

  /** Makes space for rows with a multiple of 32 columns. Earlier contents are lost. */
  public void begin(int rows, int columns) {
    this.columns = columns;
    version++;
    if (numbers.length < rows) {
      numbers = new int[Math.max(rows, 2 * numbers.length)];
      for (int i = 0; i < numbers.length; i++) {
        numbers[i] = i;
      }
    }
    long count = (long) rows * columns;
    if (pairs.length() < count / 2) {
      int size = Math.toIntExact(count + count / 8);
      pairs = memory.grown(pairs, size / 2);
      scales = memory.grown(scales, size / CodeForm.BLOCK + 1);
      sums = memory.grown(sums, size / 16 + 1);
    }
  }

  /**
   * The numbers 0, 1, 2 and so on, at least as many as there are rows. For products that use all
   * rows in order.
   */
  public int[] numbers() {
    return numbers;
  }

  /** A number that changes with each {@link #begin}. */
  long version() {
    return version;
  }

  int columns() {
    return columns;
  }
}
