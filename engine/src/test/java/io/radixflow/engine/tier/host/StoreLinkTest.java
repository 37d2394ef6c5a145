package io.radixflow.engine.tier.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.device.HeapPages;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which pages go from host memory to the store. */
@Timeout(180)
class StoreLinkTest {
  private static final int PAGE_BYTES = 64;
  private static final TierPage FIRST = new TierPage(new PageId(1, 2, 3, 4), null, "", 0);
  private static final TierPage SECOND = new TierPage(new PageId(5, 6, 7, 8), FIRST.id(), "", 0);

  private final LinkedBlockingQueue<Runnable> engine = new LinkedBlockingQueue<>();
  private final TierWorker worker = new TierWorker(engine::add);
  private final HostTier host = new HostTier(new HeapPages(4, PAGE_BYTES), 16);
  private final MemoryPageStore store = new MemoryPageStore();
  private final StoreLink link = new StoreLink(store, host, worker);

  @AfterEach
  void stop() {
    assertThat(worker.stop()).isTrue();
  }

  /** A page that has lain in host memory for a while, unlocked. */
  private HostPage resident(TierPage page) {
    HostPage entry = host.allocate(page, true);
    host.buffer(entry).putLong(0, page.id().a());
    host.ready(entry, Checksums.crc(host.buffer(entry)));
    host.unlock(entry);
    return entry;
  }

  private void flipBit(HostPage entry) {
    host.buffer(entry).put(9, (byte) 1);
  }

  private void awaitResults() throws InterruptedException {
    while (link.queuedPages() > 0) {
      engine.take().run();
    }
  }

  @Test
  void aPageDamagedInHostMemoryIsNotStored() throws Exception {
    HostPage entry = resident(FIRST);
    flipBit(entry);

    link.writeAgain(entry);
    awaitResults();

    assertThat(store.has(FIRST.id())).isFalse();
    assertThat(host.get(FIRST.id())).isNull();
    assertThat(host.misses().byReason()).isEqualTo(Map.of(MissReason.CHECKSUM, 1L));
    assertThat(host.used()).isZero();
  }

  @Test
  void aPageOfADetachedStoreIsNotAssumedToBeInTheNext() throws Exception {
    HostPage entry = resident(FIRST);
    link.writeAgain(entry);
    link.detach();
    MemoryPageStore next = new MemoryPageStore();
    link.attach(next);
    awaitResults();

    assertThat(next.has(FIRST.id())).isFalse();
    link.writeAgain(entry);
    awaitResults();
    assertThat(next.has(FIRST.id())).isTrue();
  }

  @Test
  void pagesBeforeADamagedOneAreStoredAndThoseBehindItMayBeLater() throws Exception {
    HostPage first = resident(FIRST);
    HostPage second = resident(SECOND);
    flipBit(first);
    List<HostPage> both = List.of(second, first);
    both.forEach(host::lock);

    link.write(both);
    awaitResults();

    assertThat(store.has(SECOND.id())).isTrue();
    assertThat(second.stored).isTrue();
    assertThat(store.has(FIRST.id())).isFalse();
    assertThat(host.locked()).isZero();
    assertThat(host.audit()).isTrue();
  }
}
