package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static io.radixflow.operators.tier.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.tier.TierPages.Chain;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskStoreTest {
  private static final long SEGMENT = 16 << 10;

  @TempDir Path directory;

  private DiskStoreOptions options() {
    return DiskStoreOptions.of(directory.toString(), 64 * SEGMENT).withSegmentBytes(SEGMENT);
  }

  private DiskStore open() throws IOException {
    return DiskStore.open(options(), EPOCH, PAGE_BYTES, new HeapDirectory());
  }

  @Test
  void whatWasWrittenIsReadAgain() throws IOException {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 40);
      write(store, chain);

      assertThat(store.tier()).isEqualTo(KvTier.DISK);
      assertThat(store.find(chain.ids(), 0, 40)).isEqualTo(40);
      assertThat(read(store, chain)).isEqualTo(40);
      assertThat(store.stats().pages()).isEqualTo(40);
      assertThat(store.stats().readPages()).isEqualTo(40);
      assertThat(store.stats().writtenPages()).isEqualTo(40);
      assertThat(store.stats().misses()).isEmpty();
    }
  }

  @Test
  void aLostDirectoryIsMadeAnewFromTheSegments() throws IOException {
    Chain chain = chain(1, 40);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      assertThat(read(store, chain)).isEqualTo(40);
      Chain more = chain(2, 40);
      write(store, more);
      assertThat(read(store, more)).isEqualTo(40);
    }
  }

  @Test
  void readingStopsAtThePageThatIsNotThere() throws IOException {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 10);
      store.write(chain.pages(), chain.bytes(), 6);

      assertThat(store.find(chain.ids(), 2, 10)).isEqualTo(4);
      assertThat(read(store, chain)).isEqualTo(6);
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.ABSENT, 1L));
    }
  }

  @Test
  void aPageOfAnotherNamespaceIsAMiss() throws IOException {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 3, "one", 7);
      write(store, chain);
      String[] others = {"other", "other", "other"};

      assertThat(store.read(chain.ids(), others, 0, 3, TierPages.buffers(3))).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.NAMESPACE, 1L));
      assertThat(read(store, chain)).isEqualTo(3);
    }
  }

  @Test
  void removedPagesAreGoneAndSoAreTheirBytes() throws Exception {
    try (DiskStore store = open()) {
      Chain kept = chain(1, 40);
      Chain gone = chain(2, 40);
      write(store, kept);
      write(store, gone);
      store.remove(gone.ids(), 40);

      assertThat(store.find(gone.ids(), 0, 40)).isZero();
      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(holds(gone)).isFalse();
      assertThat(holds(kept)).isTrue();
      assertThat(read(store, kept)).isEqualTo(40);
    }
    try (DiskStore store = open()) {
      assertThat(store.stats().pages()).isEqualTo(40);
    }
  }

  @Test
  void aTenantIsErasedFromAllFiles() throws Exception {
    try (DiskStore store = open()) {
      Chain kept = chain(1, 40, "one", 1);
      Chain gone = chain(1, 40, "two", 2);
      write(store, kept);
      write(store, gone);
      store.removeTenant(2);

      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(holds(gone)).isFalse();
      assertThat(read(store, kept)).isEqualTo(40);
    }
  }

  @Test
  void clearingLeavesNothing() throws Exception {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 40);
      write(store, chain);
      store.clear();

      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(store.stats().bytes()).isZero();
      assertThat(holds(chain)).isFalse();
      write(store, chain);
      assertThat(read(store, chain)).isEqualTo(40);
    }
  }

  @Test
  void theLimitHoldsAndTheOldestGoFirst() throws IOException {
    try (DiskStore store = open()) {
      for (int i = 0; i < 100; i++) {
        write(store, chain(i, 20));
        assertThat(store.stats().bytes()).isLessThanOrEqualTo(64 * SEGMENT);
      }
      assertThat(read(store, chain(99, 20))).isEqualTo(20);
      assertThat(store.find(chain(0, 20).ids(), 0, 20)).isZero();
      assertThat(store.stats().evictedPages()).isPositive();
      assertThat(store.stats().failedWrites()).isZero();
    }
  }

  @Test
  void aSmallerLimitIsReachedInTheBackground() throws Exception {
    try (DiskStore store = open()) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 20));
      }
      store.resize(8 * SEGMENT);
      await().untilAsserted(() -> assertThat(store.stats().bytes()).isLessThan(8 * SEGMENT));
      assertThat(read(store, chain(19, 20))).isEqualTo(20);
      assertThat(store.stats().limitBytes()).isEqualTo(8 * SEGMENT);
      assertThatThrownBy(() -> store.resize(3 * SEGMENT))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void twoStoresDoNotShareADirectory() throws IOException {
    try (DiskStore store = open()) {
      assertThatThrownBy(this::open)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("another engine");
    }
  }

  private boolean holds(Chain chain) throws IOException {
    return TierPages.holds(directory, chain);
  }
}
