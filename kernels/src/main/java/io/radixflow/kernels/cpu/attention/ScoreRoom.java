package io.radixflow.kernels.cpu.attention;

/**
 * How many scores attention keeps at a time. Each worker keeps the scores of the queries of one
 * block of rows over all tokens that they see. After a longer context blocks have fewer rows, so
 * the memory is bounded; only a single row may take more.
 *
 * @param rowQueries queries of a row that share a KV head
 * @param mostRows the most rows of a block
 */
public record ScoreRoom(int rowQueries, int mostRows) {

  /** The most scores of a block of several rows: 8 MiB of floats. */
  static final int MOST = 1 << 21;

  /** Rows per block for a context of {@code tokens} tokens. */
  public int rows(int tokens) {
    long row = (long) rowQueries * tokens;
    return (int) Math.max(1, Math.min(mostRows, MOST / row));
  }

  /** Scores of the largest block of a sequence of up to {@code tokens} tokens. */
  public long scores(int tokens) {
    long row = (long) rowQueries * tokens;
    return Math.max(row, Math.min(MOST, row * mostRows));
  }

  /**
   * Returns the scores that a worker makes room for. It is more than needed now, so that a growing
   * sequence seldom needs a new array.
   *
   * @param scores of the largest block so far
   */
  public static long withRoomToGrow(long scores) {
    return scores + Math.max(scores / 8, Math.min(scores / 2, MOST - scores));
  }
}
