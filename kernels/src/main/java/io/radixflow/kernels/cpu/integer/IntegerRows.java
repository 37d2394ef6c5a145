package io.radixflow.kernels.cpu.integer;

import io.radixflow.kernels.cpu.kernel.CodeForm;

/**
 * Rows of activations as 16-bit integers. Each block of 32 columns has a scale: the largest
 * absolute value over 32,767. An element becomes the nearest integer (ties to even) to its product
 * with 32,767 over the largest, in floats. A block whose largest value is below 2<sup>-100</sup> is
 * zero; the scale of one with a value that is not finite is NaN, its integers zero.
 *
 * <p>Written row by row, by many threads; buffers grow and are reused.
 */
public final class IntegerRows {

  static final int LARGEST = Short.MAX_VALUE;

  private int columns;
  private long version;
  private int[] numbers = new int[0];

  /** {@code [row][columns / 2]}: columns 0 and 2, 1 and 3 of each four, the first of a pair low. */
  int[] pairs = new int[0];

  /** {@code [row][block of 32 columns]}. */
  float[] scales = new float[0];

  /** The sums of the integers, {@code [row][16 columns]}. */
  float[] sums = new float[0];

  /** Makes space for rows with a multiple of 32 columns; earlier contents are lost. */
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
    if (pairs.length < count / 2) {
      int size = Math.toIntExact(count + count / 8);
      pairs = new int[size / 2];
      scales = new float[size / CodeForm.BLOCK + 1];
      sums = new float[size / 16 + 1];
    }
  }

  /** The numbers from 0 on, at least as many as there are rows: for products of rows in order. */
  public int[] numbers() {
    return numbers;
  }

  /** Another number after each {@link #begin}. */
  long version() {
    return version;
  }

  int columns() {
    return columns;
  }
}
