package io.radixflow.lab.jmh;

/**
 * What an operation of SGLang's radix cache takes, in microseconds; NaN where it was not measured.
 *
 * <p>Measured with the workload of {@code cache bench}, 5,000 operations of each kind, on an Intel
 * Xeon of 2.5 GHz with 2 cores: {@code radix_cache.py} at commit 8905cbd under Python 3.11.7 and
 * torch 2.13 on one pinned thread, its pools replaced by tensors in host memory (on a GPU each of
 * its concatenations is a kernel launch besides), and {@code cpp_radix_tree} of the same commit,
 * built with its own flags and called through its own binding. Chats: pages of 16 tokens in Python
 * and 64 in C++; misses and evictions: pages of 1 token.
 *
 * @param python50 median of the Python tree
 * @param python99 its 99th percentile
 * @param cpp50 median of the C++ tree
 * @param cpp99 its 99th percentile
 */
record SglangTimes(double python50, double python99, double cpp50, double cpp99) {
  private static final double UNKNOWN = Double.NaN;

  static final SglangTimes NONE = new SglangTimes(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
  static final SglangTimes MATCH_640 = new SglangTimes(56, UNKNOWN, 27, UNKNOWN);
  static final SglangTimes MATCH_1024 = new SglangTimes(43, UNKNOWN, 57, UNKNOWN);
  static final SglangTimes MATCH_2176 = new SglangTimes(174, UNKNOWN, 104, UNKNOWN);
  static final SglangTimes MATCH_4096 = new SglangTimes(289, 360, 225, UNKNOWN);

  /** The sum of the medians of match, lock, insert and unlock over all turns. */
  static final SglangTimes TURN =
      new SglangTimes(116 + 17 + 157 + 20, UNKNOWN, 117 + 1.5 + 138 + 1.8, UNKNOWN);

  static final SglangTimes MISS = new SglangTimes(7.7, 28, 27.5, 51);

  /** Of one token. */
  static SglangTimes evict(int leaves) {
    return switch (leaves) {
      case 1_000 -> new SglangTimes(183, 661, 34, 230);
      case 10_000 -> new SglangTimes(12_610, 191_730, 671, 1_771);
      case 50_000 -> new SglangTimes(87_253, 786_147, 11_801, 16_134);
      default -> NONE;
    };
  }
}
