package io.radixflow.kernels.sampling;

/**
 * The counter-based generator Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (SC 2011), section 4.3: ten rounds of 32-bit multiplications turn a
 * 128-bit counter under a 64-bit key into 128 random bits.
 *
 * <p>A draw needs no state, so any thread or device gets the same bits for the same (seed,
 * position): key words are the seed's low and high half, counter words are (position, 0, 0, 0), and
 * the 64 random bits are output words 1 (high) and 0 (low). A CUDA kernel does the same ten rounds
 * with {@code __umulhi}; cuRAND's own counter set-up differs and must not be used.
 */
final class Philox {

  private static final long MULTIPLIER_0 = 0xD2511F53L;
  private static final long MULTIPLIER_1 = 0xCD9E8D57L;
  private static final int WEYL_0 = 0x9E3779B9;
  private static final int WEYL_1 = 0xBB67AE85;
  private static final int ROUNDS = 10;
  private static final long LOW = 0xFFFFFFFFL;

  private Philox() {}

  /** Returns 64 random bits, which depend only on seed and position. */
  static long bits(long seed, int position) {
    return block(position, 0, 0, 0, (int) seed, (int) (seed >>> 32), 0);
  }

  /**
   * One half of a block.
   *
   * @param half 0 for output words 1 (high) and 0 (low), 1 for words 3 and 2
   */
  static long block(int c0, int c1, int c2, int c3, int key0, int key1, int half) {
    for (int round = 0; round < ROUNDS; round++) {
      long product0 = MULTIPLIER_0 * (c0 & LOW);
      long product1 = MULTIPLIER_1 * (c2 & LOW);
      c0 = (int) (product1 >>> 32) ^ c1 ^ key0;
      c1 = (int) product1;
      c2 = (int) (product0 >>> 32) ^ c3 ^ key1;
      c3 = (int) product0;
      key0 += WEYL_0;
      key1 += WEYL_1;
    }
    return half == 0 ? (long) c1 << 32 | c0 & LOW : (long) c3 << 32 | c2 & LOW;
  }
}
