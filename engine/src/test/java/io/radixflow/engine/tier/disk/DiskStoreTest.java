package io.radixflow.engine.tier.disk;

import static io.radixflow.engine.Patience.await;
import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class DiskStoreTest {
  private static final long LIMIT = 8 << 20;

  @TempDir Path directory;

  private final AtomicLong clock = new AtomicLong(1_000_000_000);

  private DiskTierOptions options() {
    return DiskTierOptions.of(LIMIT);
  }

  private DiskStore open() throws IOException {
    return open(options());
  }

  private DiskStore open(DiskTierOptions options) throws IOException {
    return new DiskStore(
        directory, options, EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS, clock::get);
  }

  /** Returns the bytes of all files; files that the store deletes meanwhile count as empty. */
  private long bytesOfFiles() {
    return bytes(directory.toFile());
  }

  private static long bytes(File file) {
    File[] inside = file.listFiles();
    return inside == null
        ? file.length()
        : Arrays.stream(inside).mapToLong(DiskStoreTest::bytes).sum();
  }

  @Test
  void writtenPagesCanBeRead() throws IOException {
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
  void theNextProcessFindsTheStoredPages() throws IOException {
    Chain chain = chain(1, 40);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      assertThat(store.stats().pages()).isEqualTo(40);
      assertThat(read(store, chain)).isEqualTo(40);
      Chain more = chain(2, 40);
      write(store, more);
      assertThat(read(store, more)).isEqualTo(40);
    }
  }

  /** Case F7. */
  @Test
  void aStoredPageIsNotWrittenAgain() throws IOException {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 10);
      write(store, chain);
      write(store, chain);
      assertThat(store.stats().writtenPages()).isEqualTo(10);
      assertThat(store.stats().pages()).isEqualTo(10);
    }
  }

  @Test
  void readingStopsAtTheFirstAbsentPage() throws IOException {
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
  void removedPagesAreMissesAlsoAfterARestart() throws Exception {
    Chain kept = chain(1, 40);
    Chain gone = chain(2, 40);
    try (DiskStore store = open()) {
      write(store, kept);
      write(store, gone);
      store.remove(gone.ids(), 40);

      assertThat(store.find(gone.ids(), 0, 40)).isZero();
      store.erased().get(60, TimeUnit.SECONDS);
      assertThat(read(store, kept)).isEqualTo(40);
    }
    try (DiskStore store = open()) {
      assertThat(store.stats().pages()).isEqualTo(40);
      assertThat(read(store, gone)).isZero();
    }
  }

  @Test
  void removingATenantKeepsThePagesOfOthers() throws Exception {
    try (DiskStore store = open()) {
      Chain kept = chain(1, 40, "one", 1);
      Chain gone = chain(1, 40, "two", 2);
      write(store, kept);
      write(store, gone);
      store.removeTenant(2);

      assertThat(store.find(gone.ids(), 0, 40)).isZero();
      assertThat(read(store, kept)).isEqualTo(40);
    }
  }

  /** Case F8. */
  @Test
  void clearingDeletesTheBytesOfPages() throws Exception {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 40);
      write(store, chain);
      store.clear();

      assertThat(store.stats().pages()).isZero();
      assertThat(bytesOfFiles()).isLessThan(200_000);
      write(store, chain);
      assertThat(read(store, chain)).isEqualTo(40);
    }
  }

  /** Case F3. */
  @Test
  void theLimitHoldsAndTheOldestPagesAreEvictedFirst() throws IOException {
    try (DiskStore store = open()) {
      for (int i = 0; i < 200; i++) {
        write(store, chain(i, 100));
        assertThat(bytesOfFiles()).isLessThanOrEqualTo(LIMIT);
      }
      assertThat(read(store, chain(199, 100))).isEqualTo(100);
      assertThat(store.find(chain(0, 100).ids(), 0, 100)).isZero();
      assertThat(store.stats().evictedPages()).isPositive();
      assertThat(store.stats().pages()).isGreaterThan(2_500);
      assertThat(store.stats().failedWrites()).isZero();
    }
  }

  /** Case F4. */
  @Test
  void pagesThatAreReadAreNotEvicted() throws Exception {
    try (DiskStore store = open()) {
      Chain used = chain(1_000, 50);
      write(store, used);
      for (int i = 0; i < 200; i++) {
        write(store, chain(i, 50));
        assertThat(read(store, used)).isEqualTo(50);
        if (i % 10 == 0) { // the store's own thread must not fall behind
          store.wake().get(60, TimeUnit.SECONDS);
        }
      }
      assertThat(store.stats().evictedPages()).isGreaterThan(2_000);
      assertThat(store.find(chain(0, 50).ids(), 0, 50)).isZero();
    }
  }

  /** Case F9. */
  @Test
  void theOldestPagesAreEvictedFirstAlsoAfterARestart() throws IOException {
    try (DiskStore store = open()) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 100));
      }
    }
    try (DiskStore store = open()) {
      for (int i = 20; i < 60; i++) {
        write(store, chain(i, 100));
      }
      assertThat(store.find(chain(0, 100).ids(), 0, 100)).isZero();
      assertThat(store.find(chain(58, 100).ids(), 0, 100)).isEqualTo(100);
    }
  }

  @Test
  void pagesThatWereNotUsedForTheRetentionAreEvicted() throws IOException {
    try (DiskStore store = open(new DiskTierOptions(LIMIT, null, 0, 1_000, null))) {
      write(store, chain(1, 10));
      clock.addAndGet(600);
      write(store, chain(2, 10));
      clock.addAndGet(600);
      await().until(() -> store.stats().pages() == 10);
      assertThat(read(store, chain(2, 10))).isEqualTo(10);
      assertThat(store.find(chain(1, 10).ids(), 0, 10)).isZero();
    }
  }

  @Test
  void theBytesOfEvictedPagesAreDeleted() throws IOException {
    try (DiskStore store = open(new DiskTierOptions(LIMIT, null, 0, 1_000, null))) {
      write(store, chain(1, 2_000));
      assertThat(bytesOfFiles()).isGreaterThan(2_000 * PAGE_BYTES);
      clock.addAndGet(2_000);
      await().until(() -> store.stats().pages() == 0);
      await().untilAsserted(() -> assertThat(bytesOfFiles()).isLessThan(1_000 * PAGE_BYTES));
    }
  }

  /** Case F6. */
  @Test
  void aSmallerLimitIsReachedInTheBackground() throws Exception {
    try (DiskStore store = open()) {
      for (int i = 0; i < 40; i++) {
        write(store, chain(i, 100));
      }
      long smaller = LIMIT / 2;
      store.resize(smaller);
      await().untilAsserted(() -> assertThat(store.stats().bytes()).isLessThan(smaller));
      assertThat(read(store, chain(39, 100))).isEqualTo(100);
      assertThat(store.stats().limitBytes()).isEqualTo(smaller);
      assertThatThrownBy(() -> store.resize(DiskTierOptions.MIN_BYTES - 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  /** Case F13. */
  @Test
  void noPageIsWrittenWhenTheFileSystemHasTooFewFreeBytes() throws IOException {
    try (DiskStore store =
        open(new DiskTierOptions(LIMIT, null, Long.MAX_VALUE / 2, 1_000, null))) {
      Chain chain = chain(1, 10);
      write(store, chain);
      assertThat(store.stats().failedWrites()).isEqualTo(10);
      assertThat(store.find(chain.ids(), 0, 10)).isZero();
    }
  }

  @Test
  void pagesOfAnotherModelAreDeleted() throws IOException {
    try (DiskStore store = open()) {
      write(store, chain(1, 10));
    }
    try (DiskStore store =
        DiskStore.open(directory, options(), "another", PageSizes.of(PAGE_BYTES), TierPages.KEYS)) {
      assertThat(store.stats().pages()).isZero();
      write(store, chain(1, 10));
      assertThat(read(store, chain(1, 10))).isEqualTo(10);
    }
  }

  /** Case F5. */
  @Test
  void aLimitThatHoldsTooFewPagesIsRefused() {
    assertThatThrownBy(
            () ->
                DiskStore.open(directory, options(), EPOCH, PageSizes.of(1 << 20), TierPages.KEYS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("too small for pages of 1048576 bytes");
  }

  @Test
  void twoStoresDoNotShareADirectory() throws IOException {
    try (DiskStore store = open()) {
      write(store, chain(1, 10));
      assertThatThrownBy(this::open)
          .isInstanceOf(IOException.class)
          .hasMessageContaining(directory.toString());
      assertThat(read(store, chain(1, 10))).isEqualTo(10);
    }
  }

  @Test
  void copyingAPageDoesNotCountAsAUse() throws IOException {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 2);
      write(store, chain);
      ByteBuffer into = ByteBuffer.allocate(PAGE_BYTES);
      assertThat(store.copy(chain.pages()[1], into)).isTrue();
      assertThat(into.clear()).isEqualTo(TierPages.content(chain.ids()[1], PAGE_BYTES));
      assertThat(store.copy(chain(2, 1).pages()[0], into)).isFalse();
      assertThat(store.stats().readPages()).isZero();
      assertThat(store.stats().misses()).isEmpty();
    }
  }

  @Test
  void aClosedStoreServesNoPages() throws IOException {
    DiskStore store = open();
    Chain chain = chain(1, 10);
    write(store, chain);
    store.close();
    store.close();
    assertThat(store.find(chain.ids(), 0, 10)).isZero();
    assertThat(store.read(chain.ids(), chain.namespaces(), 0, 10, TierPages.buffers(10))).isZero();
  }
}
