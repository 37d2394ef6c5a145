package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

/**
 * How codes of a few bits lie in bytes. A code is cut into planes as the binary digits of its bits
 * say, 5 into 4 and 1, the widest plane taking its lowest bits. For each {@value #GROUP} columns of
 * a panel the planes follow each other. A plane of {@code w} bits is {@code byte[2 * w][PANEL]}:
 * byte row i holds columns i, i + 2w, i + 4w and so on of the group, the first lowest. So 8 bits
 * are one plane, of a byte row for each column.
 */
public final class BitPlanes {

  /** Columns of a group. */
  public static final int GROUP = 16;

  private BitPlanes() {}

  /** Bytes of whole groups of columns of a panel. */
  public static long bytes(int bits, long columns) {
    return columns * bits * (PANEL / 8);
  }

  /** Returns the code of a column and lane of the panel from {@code at}; with a sign of 8 bits. */
  public static int code(int bits, byte[] planes, int at, int column, int lane) {
    int plane = at + (int) bytes(bits, column / GROUP * GROUP) + lane;
    int k = column % GROUP;
    int code = 0;
    int low = 0;
    for (int width = 8; width > 0; width /= 2) {
      if ((bits & width) != 0) {
        int rows = 2 * width;
        int part = planes[plane + k % rows * PANEL] >>> k / rows * width;
        code |= (width == 8 ? part : part & (1 << width) - 1) << low;
        plane += rows * PANEL;
        low += width;
      }
    }
    return code;
  }
}
