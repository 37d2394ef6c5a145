package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static io.radixflow.operators.tier.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.operators.tier.TierPages.Chain;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * What SGLang's tests ask of its file backend and of storage below host memory, at the level of
 * stores.
 */
class DiskStoreCasesTest {
  private static final int RECORD = RecordHeader.recordBytes(PAGE_BYTES);

  /** Of three pages. */
  private static final long SEGMENT = SegmentHeader.BYTES + 4L * RECORD - 1;

  private final MemoryFiles files = new MemoryFiles();

  private DiskStoreOptions options(int segments) {
    return DiskStoreOptions.of("memory", segments * 2 * SEGMENT)
        .withSegmentBytes(SEGMENT)
        .withLimitBytes(segments * SEGMENT);
  }

  private DiskStore open(DiskStoreOptions options, int pageBytes) throws IOException {
    return new DiskStore(
        options.withSegmentBytes(SEGMENT),
        files,
        new HeapDirectory(),
        null,
        EPOCH,
        pageBytes,
        () -> 1);
  }

  private DiskStore open(int segments) throws IOException {
    return open(options(segments), PAGE_BYTES);
  }

  /** Case F3. */
  @Test
  void theOldestGoesWhenTheLimitIsReached() throws IOException {
    try (DiskStore store = open(6)) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 3));
        assertThat(files.bytes()).isLessThanOrEqualTo(6 * SEGMENT);
      }
      assertThat(store.find(chain(0, 3).ids(), 0, 3)).isZero();
      assertThat(store.find(chain(19, 3).ids(), 0, 3)).isEqualTo(3);
    }
  }

  /** Case F4. */
  @Test
  void whatIsReadStays() throws IOException {
    try (DiskStore store = open(6)) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 3));
        assertThat(read(store, chain(0, 3))).isEqualTo(3);
      }
      assertThat(store.find(chain(1, 3).ids(), 0, 3)).isZero();
    }
  }

  /** Case F5. */
  @Test
  void pagesThatFitIntoNoSegmentAreRefused() {
    assertThatThrownBy(() -> open(options(6), (int) SEGMENT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not fit");
    assertThat(files.content).isEmpty();
  }

  /** Case F6: room is made a segment at a time, ahead of need. */
  @Test
  void roomIsMadeAheadOfNeed() throws Exception {
    try (DiskStore store = open(6)) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 3));
      }
      assertThat(store.awaitErased(10_000)).isTrue();
      store.close();
      assertThat(files.bytes()).isLessThanOrEqualTo(5 * SEGMENT);
    }
  }

  /** Case F7. */
  @Test
  void aPageThatIsThereIsNotWrittenAgain() throws IOException {
    try (DiskStore store = open(6)) {
      write(store, chain(1, 3));
      long bytes = files.bytes();
      write(store, chain(1, 3));

      assertThat(files.bytes()).isEqualTo(bytes);
      assertThat(store.stats().writtenPages()).isEqualTo(3);
      assertThat(store.stats().failedWrites()).isZero();
    }
  }

  /** Case F8. */
  @Test
  void clearedItHasNothing() throws IOException {
    try (DiskStore store = open(6)) {
      write(store, chain(1, 3));
      store.clear();

      assertThat(store.stats().bytes()).isZero();
      assertThat(store.stats().pages()).isZero();
      assertThat(files.bytes()).isZero();
    }
  }

  /** Case F9: the order is that of the segments, which is that of writing. */
  @Test
  void openedAgainTheOldestStillGoesFirst() throws IOException {
    for (int i = 0; i < 4; i++) {
      try (DiskStore store = open(6)) {
        write(store, chain(i, 3));
      }
    }
    try (DiskStore store = open(6)) {
      assertThat(store.stats().pages()).isEqualTo(12);
      for (int i = 4; store.stats().evictedPages() == 0; i++) {
        write(store, chain(i, 3));
      }
      assertThat(store.find(chain(0, 3).ids(), 0, 3)).isZero();
      assertThat(store.find(chain(3, 3).ids(), 0, 3)).isEqualTo(3);
    }
  }

  /** Case F12, when the store is opened. */
  @Test
  void aSegmentThatCameFromElsewhereIsAdopted() throws IOException {
    try (DiskStore other = open(6)) {
      write(other, chain(1, 3));
    }
    MemoryFiles copied = files.afterwards();
    files.content.clear();
    files.content.putAll(copied.content);
    try (DiskStore store = open(6)) {
      assertThat(read(store, chain(1, 3))).isEqualTo(3);
    }
  }

  /** Case F13. */
  @Test
  void whatIsToStayFreeStaysFree() throws IOException {
    DiskStoreOptions options = options(20).withMinFreeBytes(10L * RECORD);
    try (DiskStore store = open(options, PAGE_BYTES)) {
      files.capacity = 12L * RECORD;
      write(store, chain(1, 3));
      assertThat(store.stats().failedWrites()).isEqualTo(3);

      files.capacity = 18L * RECORD;
      write(store, chain(1, 3));
      write(store, chain(2, 3));
      write(store, chain(3, 3));
      assertThat(store.stats().failedWrites()).isEqualTo(3);
      assertThat(store.stats().evictedPages()).isPositive();
      assertThat(store.find(chain(3, 3).ids(), 0, 3)).isEqualTo(3);
      assertThat(files.usableBytes()).isGreaterThanOrEqualTo(10L * RECORD);
    }
  }

  /** Case F15. */
  @Test
  void knownPagesAreForgottenAfterTheirTimeHoweverOftenSeen() {
    AtomicLong now = new AtomicLong();
    KnownPages known = new KnownPages(2, 100, now::get);
    PageId[] ids = chain(1, 3).ids();
    known.add(ids[0]);
    now.set(99);
    known.add(ids[0]);
    assertThat(known.contains(ids[0])).isTrue();
    now.set(100);
    assertThat(known.contains(ids[0])).isFalse();

    KnownPages forEver = new KnownPages(2, -1, now::get);
    forEver.add(ids[0]);
    now.set(Long.MAX_VALUE);
    assertThat(forEver.contains(ids[0])).isTrue();
    forEver.add(ids[1]);
    forEver.add(ids[2]);
    assertThat(forEver.contains(ids[0])).isFalse();
    forEver.remove(ids[1]);
    assertThat(forEver.contains(ids[1])).isFalse();
  }

  /** Cases U27 and U28: a store that is new to the files has all pages, with the same bytes. */
  @Test
  void whatOneProcessStoredTheNextOneHas() throws IOException {
    Chain chain = chain(1, 4);
    try (DiskStore producer = open(6)) {
      write(producer, chain);
      assertThat(producer.stats().pages()).isEqualTo(4);
    }
    try (DiskStore consumer = open(6)) {
      assertThat(consumer.find(chain.ids(), 0, 4)).isEqualTo(4);
      assertThat(read(consumer, chain)).isEqualTo(4);
    }
  }
}
