package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static io.radixflow.operators.tier.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.tier.TierPages.Chain;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class DiskStoreThreadsTest {
  private static final long SEGMENT = 8 << 10;
  private static final int THREADS = 4;

  private final MemoryFiles files = new MemoryFiles();

  @Test
  void writersReadersAndRemoversSeeNoWrongPageWhileRoomIsMade() throws Exception {
    DiskStoreOptions options =
        DiskStoreOptions.of("memory", 16 * SEGMENT).withSegmentBytes(SEGMENT);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    HeapDirectory directory = new HeapDirectory();
    try (DiskStore store =
        new DiskStore(options, files, directory, null, EPOCH, PAGE_BYTES, () -> 1)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(threads.submit(work(store, new Random(i))));
      }
      for (Future<Void> thread : running) {
        thread.get();
      }
      assertThat(store.stats().misses().keySet()).isSubsetOf(MissReason.ABSENT);
      assertThat(store.stats().evictedPages()).isPositive();
      PageId[] all = allIds(directory);
      store.remove(all, all.length);
      assertThat(store.awaitErased(10_000)).isTrue();
      assertThat(store.stats().pages()).isZero();
    } finally {
      threads.shutdown();
    }
    try (DiskStore store =
        new DiskStore(options, files, new HeapDirectory(), null, EPOCH, PAGE_BYTES, () -> 1)) {
      assertThat(store.stats().pages()).isZero();
    }
  }

  private static PageId[] allIds(HeapDirectory directory) {
    List<PageId> ids = new ArrayList<>();
    directory.forEach(entry -> ids.add(entry.page().id()));
    return ids.toArray(new PageId[0]);
  }

  private static Callable<Void> work(DiskStore store, Random random) {
    return () -> {
      for (int i = 0; i < 300; i++) {
        Chain chain = chain(random.nextInt(30), 1 + random.nextInt(10));
        switch (random.nextInt(8)) {
          case 0 -> store.remove(chain.ids(), chain.length());
          case 1, 2, 3 -> write(store, chain);
          default -> read(store, chain);
        }
      }
      return null;
    };
  }
}
