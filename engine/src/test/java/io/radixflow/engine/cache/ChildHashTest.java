package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

class ChildHashTest {
  private static final int PAGES = 100_000;
  private static final int SPAN = 16;
  private static final long SEED = 20260402;

  /** Slots of a table that is not too full for that many. */
  private static final int SLOTS = 1 << 17;

  /** The slots that so many random numbers hit, less 2 %. */
  private static final int SLOTS_HIT =
      (int) (SLOTS * (1 - Math.exp(-(double) PAGES / SLOTS)) * 0.98);

  private final ChildHash hash = new ChildHash(SEED, SPAN);

  @Test
  void equalPagesHaveEqualHashesWhereverTheyAre() {
    int[] tokens = new int[3 * SPAN];
    Arrays.setAll(tokens, i -> i % SPAN);
    assertThat(hash.of("a", tokens, SPAN)).isEqualTo(hash.of("a", tokens, 2 * SPAN));
    assertThat(hash.of("b", tokens, SPAN)).isNotEqualTo(hash.of("a", tokens, SPAN));
  }

  @Test
  void anotherSeedMakesOtherHashes() {
    ChildHash other = new ChildHash(SEED + 1, SPAN);
    int[] tokens = new int[SPAN];
    int equal = 0;
    for (int i = 0; i < PAGES; i++) {
      tokens[i % SPAN]++;
      equal += hash.of("", tokens, 0) == other.of("", tokens, 0) ? 1 : 0;
    }
    assertThat(equal).isLessThan(3);
  }

  /** All of these have one sum of powers of 31, which is how strings and lists are hashed. */
  @Test
  void pagesThatCollideWithoutASeedAreSpread() {
    assertSpread(
        page -> {
          int[] tokens = new int[SPAN];
          Arrays.fill(tokens, 31 * 32);
          for (int bit = 0; bit < SPAN - 1; bit++) {
            int more = page >>> bit & 1;
            tokens[bit] += more;
            tokens[bit + 1] -= 31 * more;
          }
          int high = page >>> SPAN - 1;
          tokens[0] += 2 * high;
          tokens[1] -= 62 * high;
          return tokens;
        });
  }

  @Test
  void pagesThatAreCountedAreSpread() {
    assertSpread(
        page -> {
          int[] tokens = new int[SPAN];
          tokens[SPAN - 1] = page;
          return tokens;
        });
  }

  private void assertSpread(IntFunction<int[]> pages) {
    int[] hashes = new int[PAGES];
    Arrays.setAll(hashes, page -> hash.of("", pages.apply(page), 0));
    long different = Arrays.stream(hashes).distinct().count();
    long slots = Arrays.stream(hashes).map(each -> each & SLOTS - 1).distinct().count();
    assertThat(different).isGreaterThan(PAGES - 20);
    assertThat(slots).isGreaterThan(SLOTS_HIT);
  }
}
