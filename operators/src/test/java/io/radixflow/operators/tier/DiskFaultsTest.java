package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static io.radixflow.operators.tier.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.operators.tier.TierPages.Chain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Files of a disk tier that cannot be read, or are not what they were. */
class DiskFaultsTest {
  private static final long SEGMENT = 16 << 10;
  private static final long RECORD = RecordHeader.recordBytes(PAGE_BYTES);

  private final MemoryFiles files = new MemoryFiles();

  private static DiskStore open(MemoryFiles files, PageDirectory directory, String epoch)
      throws IOException {
    DiskStoreOptions options =
        DiskStoreOptions.of("memory", 64 * SEGMENT).withSegmentBytes(SEGMENT);
    return new DiskStore(options, files, directory, null, epoch, PAGE_BYTES, () -> 1);
  }

  private static DiskStore open(MemoryFiles files) throws IOException {
    return open(files, new HeapDirectory(), EPOCH);
  }

  private DiskStore open() throws IOException {
    return open(files);
  }

  private static long misses(PageStore store) {
    return store.stats().misses().values().stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void aSegmentThatCannotBeReadWhenOpeningIsNoMoreThereLater() throws Exception {
    try (DiskStore store = open()) {
      for (int i = 0; i < 4; i++) {
        write(store, chain(i, 13));
      }
    }
    files.unreadable = number -> number == 1;
    try (DiskStore store = open()) {
      files.unreadable = number -> false;
      store.removeTenant(0);
      assertThat(store.awaitErased(10_000)).isTrue();
    }
    try (DiskStore store = open()) {
      assertThat(store.stats().pages()).isZero();
    }
  }

  @Test
  void aSegmentThatIsReadWhenTriedAgainIsKept() throws IOException {
    try (DiskStore store = open()) {
      write(store, chain(1, 5));
    }
    AtomicInteger reads = new AtomicInteger();
    files.unreadable = number -> reads.incrementAndGet() == 1;
    try (DiskStore store = open()) {
      assertThat(read(store, chain(1, 5))).isEqualTo(5);
    }
  }

  @Test
  void aTruncatedSegmentLosesItsEndOnly() throws IOException {
    try (DiskStore store = open()) {
      Chain chain = chain(1, 10);
      write(store, chain);
      int cut = (int) (SegmentHeader.BYTES + 6 * RECORD + 300);
      files.content.put(0L, Arrays.copyOf(files.content.get(0L), cut));

      assertThat(read(store, chain)).isEqualTo(6);
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.TRUNCATED, 1L));
      write(store, chain);
      assertThat(read(store, chain)).isLessThanOrEqualTo(10);
    }
    try (DiskStore store = open()) {
      assertThat(read(store, chain(1, 10))).isGreaterThanOrEqualTo(6);
    }
  }

  @Test
  void aDeletedSegmentIsAMiss() throws IOException {
    Chain chain = chain(1, 20);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      files.content.remove(0L);

      assertThat(read(store, chain)).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.FILE_GONE, 1L));
      await().untilAsserted(() -> assertThat(store.stats().pages()).isLessThan(10));
      write(store, chain);
      assertThat(read(store, chain)).isEqualTo(20);
    }
  }

  @Test
  void whatIsRemovedFromASegmentThatIsGoneIsErased() throws Exception {
    Chain chain = chain(1, 20);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      files.content.remove(0L);
      store.remove(chain.ids(), 20);
      assertThat(store.awaitErased(10_000)).isTrue();
    }
  }

  @Test
  void whatIsRemovedFromASegmentThatIsAnotherFileNowIsErasedWithIt() throws Exception {
    Chain chain = chain(1, 5);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      files.flip(0, 100);
      store.remove(chain.ids(), 5);
      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(files.content).isEmpty();
    }
  }

  @Test
  void aSegmentThatCannotBeReadForAMomentIsPassedByWhenRoomIsMade() throws IOException {
    try (DiskStore store = open()) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 10));
      }
      files.unreadable = number -> number == 0;
      store.resize(6 * SEGMENT);
      await().until(() -> store.stats().bytes() <= 4 * SEGMENT);
      files.unreadable = number -> false;

      assertThat(read(store, chain(0, 10))).isEqualTo(10);
    }
  }

  @Test
  void segmentsThatCannotBeReadAreGivenUpIfThereIsNoOtherRoom() throws IOException {
    try (DiskStore store = open()) {
      for (int i = 0; i < 20; i++) {
        write(store, chain(i, 10));
      }
      files.unreadable = number -> true;
      store.resize(6 * SEGMENT);
      await().until(() -> store.stats().bytes() <= 4 * SEGMENT);
      files.unreadable = number -> false;

      for (int i = 0; i < 20; i++) {
        Chain chain = chain(i, 10);
        assertThat(read(store, chain)).isEqualTo(store.find(chain.ids(), 0, 10));
      }
      assertThat(store.stats().misses()).containsOnlyKeys(MissReason.ABSENT);
    }
  }

  @Test
  void aSegmentOfAnotherModelIsAMissWhileOpenAndDeletedWhenOpening() throws IOException {
    Chain chain = chain(1, 5);
    MemoryFiles others = new MemoryFiles();
    try (DiskStore store = open(others, new HeapDirectory(), "fedcba9876543210")) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      write(store, chain);
    }
    try (DiskStore store = open()) {
      files.content.put(0L, others.content.get(0L));
      assertThat(read(store, chain)).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.EPOCH, 1L));
    }
    files.content.put(0L, others.content.get(0L));
    try (DiskStore store = open()) {
      assertThat(store.stats().pages()).isZero();
      assertThat(files.content).isEmpty();
    }
  }

  @Test
  void ofTenThousandFlippedBitsNoneGivesAWrongPageAndEachMissIsCounted() throws IOException {
    Chain chain = chain(1, 10);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    Random random = new Random(7);
    long missed = 0;
    for (int i = 0; i < 100; i++) {
      MemoryFiles damaged = files.afterwards();
      HeapDirectory directory = new HeapDirectory();
      try (DiskStore store = open(damaged, directory, EPOCH)) {
        for (int j = 0; j < 100; j++) {
          flipBit(damaged, directory, chain.ids()[random.nextInt(10)], random);
          long before = misses(store);
          boolean all = read(store, chain) == 10;
          assertThat(misses(store) - before).isEqualTo(all ? 0 : 1);
          missed += all ? 0 : 1;
          write(store, chain);
        }
      }
    }
    // what lies between a page's end and the next record may flip unnoticed
    assertThat(missed).isBetween(9_000L, 9_999L);
  }

  /** Flips a bit of a page's record, wherever the store's thread has it now. */
  private static void flipBit(
      MemoryFiles files, PageDirectory directory, PageId page, Random random) {
    int bit = random.nextInt((int) RECORD * Byte.SIZE);
    PageDirectory.Entry entry;
    do {
      entry = directory.get(page);
    } while (!files.flip(entry.segment(), (int) entry.offset() * Byte.SIZE + bit));
  }

  @Test
  void flippedBitsAreFoundWhenOpeningToo() throws IOException {
    Chain chain = chain(1, 10);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    Random random = new Random(8);
    for (int i = 0; i < 1000; i++) {
      MemoryFiles damaged = files.afterwards();
      for (int flips = random.nextInt(4); flips >= 0; flips--) {
        damaged.flip(0, random.nextInt((int) damaged.bytes() * Byte.SIZE));
      }
      try (DiskStore store = open(damaged)) {
        boolean all = read(store, chain) == 10;
        assertThat(misses(store)).isEqualTo(all ? 0 : 1);
        write(store, chain);
        write(store, chain);
      }
    }
  }

  @Test
  void aDirectoryOlderOrNewerThanTheFilesIsMadeToAgree() throws IOException {
    HeapDirectory directory = new HeapDirectory();
    List<PageDirectory.Entry> old = new ArrayList<>();
    List<PageDirectory.Entry> late = new ArrayList<>();
    Chain first = chain(1, 20);
    Chain second = chain(2, 20);
    MemoryFiles early;
    try (DiskStore store = open(files, directory, EPOCH)) {
      write(store, first);
      directory.forEach(old::add);
      early = files.afterwards();
      store.remove(Arrays.copyOfRange(first.ids(), 10, 20), 10);
      write(store, second);
      directory.forEach(late::add);
    }
    HeapDirectory older = new HeapDirectory();
    older.put(old);
    try (DiskStore store = open(files.afterwards(), older, EPOCH)) {
      assertThat(read(store, first)).isEqualTo(10);
      assertThat(read(store, second)).isEqualTo(20);
      assertThat(store.stats().pages()).isEqualTo(30);
    }
    HeapDirectory newer = new HeapDirectory();
    newer.put(late);
    try (DiskStore store = open(early, newer, EPOCH)) {
      assertThat(read(store, first)).isEqualTo(20);
      assertThat(read(store, second)).isZero();
      assertThat(store.stats().pages()).isEqualTo(20);
    }
  }

  @Test
  void aReadThatFailsLeavesNoneBehindThatStillFillsItsBuffers() throws Exception {
    Chain chain = chain(1, 40);
    try (DiskStore store = open()) {
      write(store, chain);
      Thread reader = new Thread(() -> read(store, chain));
      reader.setUncaughtExceptionHandler((thread, failure) -> {});
      AtomicInteger others = new AtomicInteger();
      AtomicInteger begun = new AtomicInteger();
      AtomicBoolean leftBehind = new AtomicBoolean();
      files.slow =
          () -> {
            if (Thread.currentThread() == reader) {
              while (begun.get() == 0) {
                Thread.onSpinWait();
              }
              throw new LinkageError("injected");
            }
            others.incrementAndGet();
            begun.incrementAndGet();
            while (reader.isAlive() && reader.getState() != Thread.State.WAITING) {
              Thread.onSpinWait();
            }
            leftBehind.compareAndSet(false, !reader.isAlive());
            others.decrementAndGet();
          };
      reader.start();
      reader.join();

      await().until(() -> others.get() == 0);
      assertThat(leftBehind).isFalse();
    }
  }
}
