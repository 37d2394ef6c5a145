package io.radixflow.kernels.cpu.step;

/** Chooses the number of rows per tile. Results do not depend on it. */
public final class TileRows {

  /** Rows of the largest tile. */
  public static final int MOST = 8;

  /** Reading the weights of a tile costs about as much as this number of rows. */
  private static final int WEIGHTS = 2;

  private TileRows() {}

  /** The number of rows per tile that computes {@code rows} rows in the least time. */
  static int of(int rows) {
    int best = 0;
    int least = Integer.MAX_VALUE;
    for (int tile = 2; tile <= MOST; tile += 2) {
      int cost = (rows + tile - 1) / tile * (tile + WEIGHTS);
      if (cost <= least) {
        least = cost;
        best = tile;
      }
    }
    return best;
  }
}
