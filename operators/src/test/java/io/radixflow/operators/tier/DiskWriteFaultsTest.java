package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static io.radixflow.operators.tier.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.radixflow.operators.tier.TierPages.Chain;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk and a directory that do not take what is written, or not at once. */
class DiskWriteFaultsTest {
  private static final long SEGMENT = 16 << 10;
  private static final long RECORD = RecordHeader.recordBytes(PAGE_BYTES);

  private final MemoryFiles files = new MemoryFiles();

  private static DiskStore open(MemoryFiles files, PageDirectory directory) throws IOException {
    DiskStoreOptions options =
        DiskStoreOptions.of("memory", 64 * SEGMENT).withSegmentBytes(SEGMENT);
    return new DiskStore(options, files, directory, null, EPOCH, PAGE_BYTES, () -> 1);
  }

  private static DiskStore open(MemoryFiles files) throws IOException {
    return open(files, new HeapDirectory());
  }

  private DiskStore open() throws IOException {
    return open(files);
  }

  @Test
  void aFullDiskStoresNoMoreAndServesWhatItHas() throws IOException {
    try (DiskStore store = open()) {
      Chain before = chain(1, 20);
      write(store, before);
      files.writable = 5 * RECORD / 2;
      Chain more = chain(2, 20);
      write(store, more);

      assertThat(store.stats().failedWrites()).isEqualTo(20);
      assertThat(read(store, more)).isZero();
      assertThat(read(store, before)).isEqualTo(20);
      files.writable = Long.MAX_VALUE;
      write(store, more);
      assertThat(read(store, more)).isEqualTo(20);
      assertThat(files.bytes()).isEqualTo(store.stats().bytes());
    }
  }

  /** A directory that takes no entries while {@code full} says so. */
  private static PageDirectory failing(PageDirectory directory, AtomicBoolean full) {
    return (PageDirectory)
        Proxy.newProxyInstance(
            DiskWriteFaultsTest.class.getClassLoader(),
            new Class<?>[] {PageDirectory.class},
            (proxy, method, args) ->
                full.get() && method.getName().equals("put")
                    ? (Object) false
                    : method.invoke(directory, args));
  }

  /** A directory of which nothing can be removed while {@code full} says so. */
  private static PageDirectory stuck(PageDirectory directory, AtomicBoolean full) {
    return (PageDirectory)
        Proxy.newProxyInstance(
            DiskWriteFaultsTest.class.getClassLoader(),
            new Class<?>[] {PageDirectory.class},
            (proxy, method, args) -> {
              if (full.get() && Set.of("remove", "clear").contains(method.getName())) {
                throw new UncheckedIOException(new IOException("no space left"));
              }
              return method.invoke(directory, args);
            });
  }

  @Test
  void aDiskIsEmptiedThoughItsDirectoryCannotBe() throws IOException {
    Chain chain = chain(1, 20);
    AtomicBoolean full = new AtomicBoolean();
    try (DiskStore store = open(files, stuck(new HeapDirectory(), full))) {
      write(store, chain);
      full.set(true);
      store.clear();

      assertThat(files.bytes()).isZero();
      assertThat(read(store, chain)).isZero();
      write(store, chain(2, 20));
      assertThat(read(store, chain(2, 20))).isEqualTo(20);
    }
  }

  @Test
  void aDirectoryThatCannotBeMadeToAgreeWithTheDiskIsTroubleOfTheDisk(@TempDir Path root) {
    HeapDirectory directory = new HeapDirectory();
    TierPage lost = chain(1, 1).pages()[0];
    directory.put(List.of(new PageDirectory.Entry(lost, 7, 256, (int) RECORD, 1)));

    assertThatThrownBy(
            () ->
                DiskStore.open(
                    DiskStoreOptions.of(root.toString(), 64 * SEGMENT),
                    EPOCH,
                    PAGE_BYTES,
                    stuck(directory, new AtomicBoolean(true))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no space left");
  }

  @Test
  void pagesThatTheDirectoryDoesNotTakeAreDestroyed() throws Exception {
    AtomicBoolean full = new AtomicBoolean();
    Chain kept = chain(1, 5);
    try (DiskStore store = open(files, failing(new HeapDirectory(), full))) {
      write(store, kept);
      full.set(true);
      write(store, chain(2, 5));

      assertThat(store.stats().failedWrites()).isEqualTo(5);
      assertThat(read(store, chain(2, 5))).isZero();
      assertThat(store.awaitErased(10_000)).isTrue();
    }
    try (DiskStore store = open()) {
      assertThat(read(store, kept)).isEqualTo(5);
      assertThat(store.find(chain(2, 5).ids(), 0, 5)).isZero();
      assertThat(store.stats().pages()).isEqualTo(5);
    }
  }

  @Test
  void whatIsReclaimedWhileTheDirectoryTakesNothingIsNowhere() throws Exception {
    AtomicBoolean full = new AtomicBoolean();
    Set<Integer> left = new HashSet<>();
    try (DiskStore store = open(files, failing(new HeapDirectory(), full))) {
      for (int i = 0; i < 60; i++) {
        write(store, chain(i, 5));
        read(store, chain(i, 5));
      }
      full.set(true);
      store.resize(8 * SEGMENT);
      await().until(() -> store.stats().bytes() <= 8 * SEGMENT);
      assertThat(store.awaitErased(10_000)).isTrue();
      for (int i = 0; i < 60; i++) {
        if (store.find(chain(i, 5).ids(), 0, 5) > 0) {
          left.add(i);
        }
      }
    }
    assertThat(left).hasSizeLessThan(60);
    try (DiskStore store = open()) {
      for (int i = 0; i < 60; i++) {
        assertThat(store.find(chain(i, 5).ids(), 0, 5) > 0).isEqualTo(left.contains(i));
      }
    }
  }

  @Test
  void aStoreWhoseDirectoryDoesNotTakeWhatIsFoundDoesNotOpen() throws IOException {
    try (DiskStore store = open()) {
      write(store, chain(1, 5));
    }
    PageDirectory full = failing(new HeapDirectory(), new AtomicBoolean(true));
    assertThatThrownBy(() -> open(files, full))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("directory cannot be written");
    try (DiskStore store = open()) {
      assertThat(read(store, chain(1, 5))).isEqualTo(5);
    }
  }

  @Test
  void nothingIsAppendedToASegmentThatIsStillToBeCut() throws Exception {
    try (DiskStore store = open()) {
      write(store, chain(1, 5));
    }
    byte[] whole = files.content.get(0L);
    files.content.put(0L, Arrays.copyOf(whole, whole.length + 300));
    files.uncut = true;
    try (DiskStore store = open()) {
      write(store, chain(2, 5));
      assertThat(store.awaitErased(10)).isFalse();
      files.uncut = false;
      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(files.content.get(0L)).hasSameSizeAs(whole);
      assertThat(read(store, chain(1, 5))).isEqualTo(5);
      assertThat(read(store, chain(2, 5))).isEqualTo(5);
    }
  }

  @Test
  void whatAFullDiskDidNotTakeBackIsCutLater() throws Exception {
    try (DiskStore store = open()) {
      write(store, chain(1, 5));
      files.dies = true;
      files.writable = RECORD / 2;
      write(store, chain(2, 5));
      files.dies = false;
      files.writable = Long.MAX_VALUE;

      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(files.bytes()).isEqualTo(store.stats().bytes());
    }
  }

  @Test
  void pagesThatWereWrittenAreNotKeptInMemory() throws IOException {
    try (DiskStore store = open()) {
      write(store, chain(1, 5));
      files.writable = RECORD;
      write(store, chain(2, 5));
    }
    assertThat(files.sources).isNotEmpty().containsOnlyNulls();
  }

  @Test
  void aReadOnlyDirectoryIsRead() throws Exception {
    Chain chain = chain(1, 20);
    try (DiskStore store = open()) {
      write(store, chain);
    }
    files.readOnly = true;
    try (DiskStore store = open()) {
      assertThat(read(store, chain)).isEqualTo(20);
      write(store, chain(2, 5));
      assertThat(store.stats().failedWrites()).isEqualTo(5);

      store.remove(chain.ids(), 20);
      assertThat(read(store, chain)).isZero();
      CompletableFuture<Void> erased = store.erased();
      assertThat(store.awaitErased(10)).isFalse();
      assertThat(erased).isNotDone();
      files.readOnly = false;
      assertThat(store.awaitErased(10_000)).isTrue();
      erased.get(10, TimeUnit.SECONDS);
    }
    try (DiskStore store = open()) {
      assertThat(store.stats().pages()).isZero();
    }
  }

  @Test
  void aProcessThatDiesAtAnyMomentLeavesNoWrongPage() throws IOException {
    for (int death = 0; death < 200; death++) {
      MemoryFiles disk = new MemoryFiles();
      Random random = new Random(death);
      disk.dies = true;
      disk.writable = random.nextInt(60 * (int) RECORD);
      DiskStoreOptions options =
          DiskStoreOptions.of("memory", 4 * SEGMENT).withSegmentBytes(SEGMENT);
      try (DiskStore store =
          new DiskStore(options, disk, new HeapDirectory(), null, EPOCH, PAGE_BYTES, () -> 1)) {
        for (int i = 0; i < 12; i++) {
          write(store, chain(i, 1 + random.nextInt(8)));
          read(store, chain(random.nextInt(12), 8));
          store.remove(chain(random.nextInt(12), 8).ids(), 8);
        }
      }
      try (DiskStore store = open(disk.afterwards())) {
        for (int i = 0; i < 12; i++) {
          Chain chain = chain(i, 8);
          int found = store.find(chain.ids(), 0, 8);
          assertThat(read(store, chain)).isEqualTo(found);
        }
      }
    }
  }

  @Test
  void aSlowReadHoldsNeitherWritesNorLookUps() throws Exception {
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (DiskStore store = open()) {
      Chain chain = chain(1, 3);
      write(store, chain);
      files.slow =
          () -> {
            reading.countDown();
            try {
              goOn.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          };
      int[] read = new int[1];
      Thread reader = new Thread(() -> read[0] = read(store, chain));
      reader.start();
      reading.await();
      write(store, chain(2, 3));
      assertThat(store.find(chain(2, 3).ids(), 0, 3)).isEqualTo(3);
      store.remove(chain(2, 3).ids(), 3);
      goOn.countDown();
      reader.join();
      assertThat(read[0]).isEqualTo(3);
    }
  }
}
