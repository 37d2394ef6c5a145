package io.radixflow.kernels.cpu.attention;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.RowMemory;

/**
 * The queries of some rows of one sequence that share a KV head, and the scores and outputs of
 * their attention. Tokens and pages count from the first page that any of the queries sees.
 *
 * <p>The dispatcher or one worker fills it. Afterwards workers write different pages of the scores
 * or different elements of the output.
 */
public final class HeadQueries {

  private final RowMemory memory;

  /** The pool with the keys and values. */
  public CpuKvPool pool;

  /** The layer in {@link #pool}. */
  public int layer;

  /** The KV head in {@link #pool}; 0 for latent attention. */
  public int kvHead;

  /** The sequence's page table. */
  public int[] table;

  /** The first page that a query sees, in {@link #table}. */
  public int firstPage;

  /** Number of pages, from {@link #firstPage} on. */
  public int pages;

  /** Elements of a key. */
  public int keyDim;

  /** Elements of a value; fewer than of a key if values are the beginning of latent keys. */
  public int valueDim;

  /** The factor of the scores. */
  public float scale;

  /** Number of queries. */
  public int count;

  /** Query {@code i} is at {@code queries[queryAt[i]]}. */
  public Floats queries;

  public int[] queryAt = new int[0];

  /** Query {@code i} sees the tokens from {@code from[i]} to before {@code to[i]}. */
  public int[] from = new int[0];

  public int[] to = new int[0];

  /** Element (query, token) at {@code query * stride + token}: scores, then weights. */
  public Floats scores = Floats.NONE;

  /** The final factor of each query's sums. */
  public float[] factor = new float[0];

  /** The output of query {@code i} begins at {@code out[outAt[i]]}. */
  public Floats out;

  public int[] outAt = new int[0];

  /** Sums of native latent attention; see attention.h. */
  Floats latentSums = Floats.NONE;

  /**
   * @param memory has the scores and sums
   */
  public HeadQueries(RowMemory memory) {
    this.memory = memory;
  }

  /**
   * Makes room for {@code queries} queries over {@code pages} pages.
   *
   * @throws ArithmeticException if their scores do not fit into an array
   */
  public void ensure(int queries, int pages) {
    if (queryAt.length < queries) {
      queryAt = new int[queries];
      from = new int[queries];
      to = new int[queries];
      factor = new float[queries];
      outAt = new int[queries];
    }
    int tokens = (queries + 3) / 4 * 4 * CpuKvPool.PAGE_TOKENS;
    int needed = Math.multiplyExact(tokens, pages); // native code relies on this check
    if (scores.length() < needed) {
      long roomy = ScoreRoom.withRoomToGrow(needed);
      scores = memory.grown(scores, (int) Math.min(roomy, Math.max(needed, Floats.MOST)));
    }
    int sums = latent() ? (queries + 15) / 16 * 16 * valueDim : 0;
    latentSums = memory.grown(latentSums, sums);
  }

  /** Distance from one query's scores to the next query's, in floats. */
  public int stride() {
    return pages * CpuKvPool.PAGE_TOKENS;
  }

  boolean latent() {
    return valueDim < keyDim;
  }
}
