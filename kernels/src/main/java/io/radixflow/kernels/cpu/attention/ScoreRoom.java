package io.radixflow.kernels.cpu.attention;

/**
 * How many scores attention keeps at a time. Each worker keeps the scores of one block of rows: all
 * their queries times all tokens that they see. Blocks have fewer rows if the context is longer, so
 * the memory is bounded. Only a block of a single row may exceed the bound.
 *
 * @param rowQueries number of a row's queries that share a KV head
 * @param mostRows the largest number of rows per block
 */
public record ScoreRoom(int rowQueries, int mostRows) {

  /** The largest number of scores of a block with several rows: 8 MiB of floats. */
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
   * Returns the number of scores to allocate. It is larger than needed now, so that a growing
   * sequence seldom needs a new array.
   *
   * @param scores number of scores of the largest block so far
   */
  public static long withRoomToGrow(long scores) {
    return scores + Math.max(scores / 8, Math.min(scores / 2, MOST - scores));
  }
}
