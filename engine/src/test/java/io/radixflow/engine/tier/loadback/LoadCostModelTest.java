package io.radixflow.engine.tier.loadback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.radixflow.protocol.record.kv.KvTier;
import org.junit.jupiter.api.Test;

/** Times that are given, and what follows from them. */
class LoadCostModelTest {
  private static final LoadBackOptions OPTIONS =
      new LoadBackOptions(LoadBackOptions.BY_COST, PrefetchPolicy.TIMEOUT, 1);

  private static final long MILLI = 1_000_000;

  private final LoadCostModel model = new LoadCostModel(16, OPTIONS);

  /** A millisecond a token at the beginning, two at position 1,000; 4 ms and 1 ms a page. */
  private void measure() {
    for (int i = 0; i < 50; i++) {
      model.computed(0, 2, 2 * MILLI);
      model.computed(999, 2, 4 * MILLI);
      model.copied(1, 5 * MILLI);
      model.copied(20, 24 * MILLI);
    }
  }

  @Test
  void everythingIsLoadedAsLongAsNothingIsMeasured() {
    assertThat(model.pagesToLoad(0, 7)).isEqualTo(7);
    assertThat(model.isWorthFetching(KvTier.DISK, 0, 7)).isTrue();
  }

  @Test
  void secondsFollowTheFittedLines() {
    measure();
    assertThat(model.copySeconds(0)).isZero();
    assertThat(model.copySeconds(10)).isCloseTo(0.014, within(1e-4));
    assertThat(model.computeSeconds(0, 1)).isCloseTo(0.016, within(5e-4));
    assertThat(model.computeSeconds(62, 63)).isCloseTo(0.032, within(5e-4));
  }

  @Test
  void aFastTierLoadsAllAndASlowOneNothing() {
    measure();
    assertThat(model.pagesToLoad(0, 30)).isEqualTo(30);
    for (int i = 0; i < 300; i++) {
      model.copied(1, 100 * MILLI);
      model.copied(20, 2_000 * MILLI);
    }
    assertThat(model.pagesToLoad(0, 30)).isZero();
  }

  @Test
  void aFixedCostDecidesWhetherFewPagesAreWorthIt() {
    for (int i = 0; i < 50; i++) {
      model.computed(0, 16, 16 * MILLI);
      model.copied(1, 51 * MILLI);
      model.copied(10, 60 * MILLI);
    }
    assertThat(model.pagesToLoad(0, 3)).isZero();
    assertThat(model.pagesToLoad(0, 4)).isEqualTo(4);
  }

  @Test
  void aSlowStoreIsNotAsked() {
    measure();
    for (int i = 0; i < 20; i++) {
      model.fetched(KvTier.DISK, 10, 20 * MILLI);
    }
    assertThat(model.isWorthFetching(KvTier.DISK, 0, 10)).isTrue();
    for (int i = 0; i < 300; i++) {
      model.fetched(KvTier.DISK, 10, 900 * MILLI);
    }
    assertThat(model.isWorthFetching(KvTier.DISK, 0, 10)).isFalse();
  }

  @Test
  void aSlowStoreIsTriedAgainSometimesAndDoesNotAffectAnother() {
    measure();
    for (int i = 0; i < 20; i++) {
      model.asked(KvTier.REMOTE, 900 * MILLI);
    }
    int tries = 0;
    for (int i = 0; i < 4 * LoadCostModel.TRIED_AGAIN; i++) {
      tries += model.isWorthAsking(KvTier.REMOTE, 0, 10) ? 1 : 0;
    }
    assertThat(tries).isEqualTo(4);
    assertThat(model.isWorthAsking(KvTier.DISK, 0, 10)).isTrue();
  }

  @Test
  void theTimeoutGrowsWithThePrefixUpToALimit() {
    assertThat(LoadBackOptions.prefetchMillis(0)).isEqualTo(2_000);
    assertThat(LoadBackOptions.prefetchMillis(1024)).isEqualTo(2_100);
    assertThat(LoadBackOptions.prefetchMillis(10_000_000)).isEqualTo(30_000);
  }
}
