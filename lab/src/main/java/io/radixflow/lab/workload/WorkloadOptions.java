package io.radixflow.lab.workload;

import io.radixflow.engine.model.ServedModel;

/**
 * Options for reading a workload.
 *
 * @param pageTokens tokens per page; 0 for the format's own, 1 for a page of one block
 * @param blockTokens tokens that an id of {@code hash_ids} stands for
 * @param sessionSpacing seconds between the starts of sessions, if a trace has no start times
 * @param horizon seconds after which such a trace is cut
 * @param model model whose tokenizer and template make prompts of conversations; null to count four
 *     characters as a token
 */
public record WorkloadOptions(
    int pageTokens, int blockTokens, double sessionSpacing, double horizon, ServedModel model) {

  /** Block size of the traces that Mooncake published. */
  public static final int MOONCAKE_BLOCK = 512;

  /** The values of the published comparisons: a start each minute, eight hours. */
  public static final WorkloadOptions DEFAULT =
      new WorkloadOptions(0, MOONCAKE_BLOCK, 60, 8 * 3600, null);

  /** Returns when a session starts, in seconds, for traces without start times. */
  double start(int session) {
    return session * sessionSpacing;
  }

  /** Returns a note on the results about the assumptions of {@link #start} and {@link #horizon}. */
  String startsNote() {
    return "sessions start %s s apart, cut after %s h: this interleaving is a choice, the trace has none"
        .formatted(plain(sessionSpacing), plain(horizon / 3600));
  }

  private static String plain(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  /**
   * Returns the number of blocks per page.
   *
   * @throws WorkloadException if pages do not hold whole blocks
   */
  int blocksPerPage(int blockTokens, int defaultPage) throws WorkloadException {
    int page = pageTokens == 0 ? defaultPage : pageTokens == 1 ? blockTokens : pageTokens;
    if (page % blockTokens != 0) {
      throw new WorkloadException(
          "a page of %d tokens holds no whole blocks: this workload's have %d tokens, so the page must be a multiple of it"
              .formatted(page, blockTokens));
    }
    return page / blockTokens;
  }
}
