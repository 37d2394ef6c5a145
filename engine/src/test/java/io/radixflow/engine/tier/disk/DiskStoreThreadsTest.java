package io.radixflow.engine.tier.disk;

import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskStoreThreadsTest {
  private static final int THREADS = 4;
  private static final int CHAINS = 60;
  private static final int LENGTH = 100;

  @TempDir Path directory;

  @Test
  void writersReadersAndRemoversSeeNoWrongPageWhileRoomIsMade() throws Exception {
    DiskTierOptions options = DiskTierOptions.of(4 << 20);
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try (DiskStore store =
        DiskStore.open(directory, options, EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS)) {
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        running.add(threads.submit(work(store, new Random(i))));
      }
      for (Future<Void> thread : running) {
        thread.get();
      }
      assertThat(store.stats().misses().keySet()).isSubsetOf(MissReason.ABSENT);
      assertThat(store.stats().evictedPages()).isPositive();
      for (int i = 0; i < CHAINS; i++) {
        store.remove(chain(i, LENGTH).ids(), LENGTH);
      }
      assertThat(store.stats().pages()).isZero();
    } finally {
      threads.shutdown();
    }
  }

  private static Callable<Void> work(DiskStore store, Random random) {
    return () -> {
      for (int i = 0; i < 150; i++) {
        Chain chain = chain(random.nextInt(CHAINS), 1 + random.nextInt(LENGTH));
        switch (random.nextInt(12)) {
          case 0 -> store.remove(chain.ids(), chain.length());
          case 1, 2, 3, 4, 5 -> write(store, chain);
          default -> read(store, chain);
        }
      }
      return null;
    };
  }
}
