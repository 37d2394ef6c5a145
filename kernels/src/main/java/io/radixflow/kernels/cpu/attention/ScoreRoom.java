package io.radixflow.kernels.cpu.attention;

/**
 * How many scores attention keeps at a time: those of the queries of a block of rows over all
 * tokens that they see, for each worker. Blocks have fewer rows behind a longer context, so that
 * the room is bounded; only a single row may take more.
 *
 * @param rowQueries queries of a row that share a KV head
 * @param mostRows rows of a block, at most
 */
public record ScoreRoom(int rowQueries, int mostRows) {

  /** Scores of a block of several rows, at most: 8 MiB of floats. */
  static final int MOST = 1 << 21;

  /** Rows of a block, so many tokens deep. */
  public int rows(int tokens) {
    long row = (long) rowQueries * tokens;
    return (int) Math.max(1, Math.min(mostRows, MOST / row));
  }

  /** Scores of the largest block of a sequence of up to so many tokens. */
  public long scores(int tokens) {
    long row = (long) rowQueries * tokens;
    return Math.max(row, Math.min(MOST, row * mostRows));
  }

  /**
   * Scores that a worker has room for, so that a sequence which grows seldom needs a new array.
   *
   * @param scores of the largest block so far
   */
  public static long withRoomToGrow(long scores) {
    return scores + Math.max(scores / 8, Math.min(scores / 2, MOST - scores));
  }
}
