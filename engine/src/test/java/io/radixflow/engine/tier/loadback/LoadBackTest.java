package io.radixflow.engine.tier.loadback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.tier.InstantPool;
import io.radixflow.engine.tier.host.Checksums;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.host.TierWorker;
import io.radixflow.engine.tier.loadback.LoadBack.State;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.protocol.record.kv.KvTier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The states of load-backs, on an engine thread that the test is, and stores that it holds up. */
@Timeout(180)
class LoadBackTest {
  private static final int DEVICE_PAGES = 64;
  private static final int HOST_PAGES = 80;
  private static final int PAGES = 20;
  private static final PageChain CHAIN = chain(0);

  private final LinkedBlockingQueue<Runnable> engine = new LinkedBlockingQueue<>();
  private final InstantPool pool = new InstantPool(DEVICE_PAGES);
  private final HostTier host = new HostTier(pool.openHostPages(HOST_PAGES), 1);
  private final TierWorker worker = new TierWorker(engine::add);
  private final Checksums checksums = new Checksums(host, worker);
  private final MemoryPageStore store = new MemoryPageStore();
  private final StoreLink link = new StoreLink(store, host, worker);
  private final int[] table = IntStream.range(0, DEVICE_PAGES).toArray();
  private final List<LoadBack> begun = new ArrayList<>();
  private final List<Semaphore> gates = new ArrayList<>();
  private long nanos;
  private LoadBacks loadBacks = loadBacks(PrefetchPolicy.WAIT_COMPLETE);

  private LoadBacks loadBacks(PrefetchPolicy policy) {
    LoadBackOptions options = new LoadBackOptions(1, policy, 1);
    return new LoadBacks(pool, host, checksums, link, options, () -> nanos);
  }

  private Semaphore heldUp(Semaphore gate) {
    gates.add(gate);
    return gate;
  }

  /** A conversation of which each page has one token. */
  private static PageChain chain(int first) {
    int[] tokens = IntStream.range(first, first + PAGES).toArray();
    return PageChain.of(RadixKey.of(tokens), 1, 0);
  }

  @AfterEach
  void nothingStaysLocked() throws InterruptedException {
    gates.forEach(gate -> gate.release(1000));
    begun.forEach(loadBacks::release);
    while (loadBacks.reads().queuedPages() + checksums.pending() > 0) {
      engine.take().run();
    }
    assertThat(worker.stop()).isTrue();
    assertThat(host.locked()).isZero();
    assertThat(host.audit()).isTrue();
  }

  private void storePages(PageChain chain, int from, int to) {
    for (int i = from; i < to; i++) {
      ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).putLong(0, chain.id(i).a());
      store.write(new TierPage[] {chain.page(i)}, new ByteBuffer[] {bytes}, 1);
    }
  }

  private void keepOnHost(PageChain chain, int to) {
    for (int i = 0; i < to; i++) {
      HostPage page = host.allocate(chain.page(i), true);
      host.buffer(page).putLong(0, chain.id(i).a());
      host.ready(page, Checksums.crc(host.buffer(page)));
      host.unlock(page);
    }
  }

  private LoadBack begin() {
    LoadBack each = loadBacks.begin(CHAIN, 0, PAGES);
    begun.add(each);
    return each;
  }

  private void await(LoadBack each, State state) throws InterruptedException {
    while (each.state() != state) {
      Runnable task = engine.poll(1, TimeUnit.MILLISECONDS);
      if (task == null) {
        loadBacks.poll();
      } else {
        task.run();
      }
    }
  }

  @Test
  void pagesOfTheStoreComeInBatchesAndGoToTheDevice() throws Exception {
    storePages(CHAIN, 0, PAGES);
    Semaphore finds = heldUp(store.slowDownFinds());
    Semaphore reads = heldUp(store.slowDown());
    LoadBack each = begin();
    assertThat(each.state()).isEqualTo(State.ASKING);
    finds.release();
    await(each, State.READING);
    reads.release();
    engine.take().run();
    assertThat(each.state()).as("the second batch").isEqualTo(State.READING);
    assertThat(each.readPages()).isEqualTo(16);
    assertThat(each.mustWait(0)).isTrue();
    reads.release();
    await(each, State.READY);
    assertThat(each.mustWait(0)).isFalse();

    assertThat(each.copy(0, PAGES, table)).isEqualTo(PAGES);
    assertThat(each.state()).isEqualTo(State.COPYING);
    each.release();
    assertThat(each.state()).as("a copy is not given up").isEqualTo(State.COPYING);
    loadBacks.copies().start();
    await(each, State.ENDED);
    assertThat(each.failure()).isNull();
    assertThat(each.copiedPages(KvTier.DISK)).isEqualTo(PAGES);
    assertThat(each.copiedPages(KvTier.HOST)).isZero();
  }

  @Test
  void pagesInHostMemoryAreVerifiedWhileTheStoreIsAsked() throws Exception {
    keepOnHost(CHAIN, 4);
    storePages(CHAIN, 4, 10);
    Semaphore finds = heldUp(store.slowDownFinds());
    LoadBack each = begin();
    assertThat(each.isVerified()).isFalse();
    assertThat(each.usableEnd()).isZero();
    engine.take().run();
    assertThat(each.isVerified()).isTrue();
    assertThat(each.usableEnd()).isEqualTo(4);
    assertThat(each.state()).isEqualTo(State.ASKING);
    finds.release();
    await(each, State.READY);
    assertThat(each.usableEnd()).isEqualTo(10);
  }

  @Test
  void pagesBehindADamagedOneInHostMemoryAreNotUsed() throws Exception {
    keepOnHost(CHAIN, 4);
    host.buffer(host.get(CHAIN.id(2))).put(0, (byte) 1);
    LoadBack each = begin();
    while (!each.isVerified()) {
      engine.take().run();
    }
    assertThat(each.usableEnd()).isEqualTo(2);
    assertThat(host.get(CHAIN.id(2))).isNull();
    assertThat(host.misses().byReason()).containsEntry(MissReason.CHECKSUM, 1L);
  }

  @Test
  void aPageThatAnotherLoadBackReadsIsSharedAndVerified() throws Exception {
    storePages(CHAIN, 0, PAGES);
    Semaphore reads = heldUp(store.slowDown());
    LoadBack first = begin();
    await(first, State.READING);
    LoadBack second = begin();
    await(second, State.SHARING);
    reads.release();
    await(second, State.VERIFYING);
    reads.release(10);
    await(first, State.READY);
    await(second, State.READY);
    assertThat(second.readPages()).isEqualTo(PAGES);
    assertThat(store.reads()).as("each page once").isEqualTo(PAGES);
  }

  @Test
  void aReleasedLoadBackLeavesThePagesThatWereBeingReadInHostMemory() throws Exception {
    storePages(CHAIN, 0, PAGES);
    Semaphore reads = heldUp(store.slowDown());
    LoadBack each = begin();
    await(each, State.READING);
    each.release();
    each.release();
    assertThat(each.state()).isEqualTo(State.ENDED);
    reads.release(10);
    engine.take().run();
    assertThat(host.locked()).isZero();
    assertThat(host.readyPages(CHAIN, 0)).isEqualTo(16);
    assertThat(loadBacks.areAwaited()).isFalse();
  }

  @Test
  void aLoadBackIsReadyWithWhatHasComeWhenItsStoreIsDetached() throws Exception {
    storePages(CHAIN, 0, PAGES);
    Semaphore reads = heldUp(store.slowDown());
    LoadBack each = begin();
    await(each, State.READING);
    link.detach();
    reads.release(10);
    await(each, State.READY);
    assertThat(each.readPages()).isEqualTo(16);
  }

  @Test
  void aRequestIsAdmittedWithWhatHasComeUnderBestEffort() throws Exception {
    loadBacks = loadBacks(PrefetchPolicy.BEST_EFFORT);
    storePages(CHAIN, 0, PAGES);
    Semaphore reads = heldUp(store.slowDown());
    LoadBack each = begin();
    await(each, State.READING);
    reads.release();
    engine.take().run();
    assertThat(each.mustWait(0)).isFalse();
    assertThat(each.copy(0, PAGES, table)).isEqualTo(16);
    loadBacks.copies().start();
    reads.release(10);
    await(each, State.ENDED);
    assertThat(each.copiedPages(KvTier.DISK)).isEqualTo(16);
  }

  @Test
  void announcedTurnsWaitForRoomInHostMemoryAndEndThere() throws Exception {
    PageChain[] chains = {chain(100), chain(200), chain(300)};
    List<PageChain> ended = new ArrayList<>();
    Semaphore reads = heldUp(store.slowDown());
    reads.release(3 * PAGES);
    for (PageChain chain : chains) {
      storePages(chain, 0, PAGES);
    }
    List<LoadBack> each = new ArrayList<>();
    for (PageChain chain : chains) {
      each.add(loadBacks.announce(chain, 0, () -> ended.add(chain)));
    }
    begun.addAll(each);
    assertThat(each.get(1).state()).isEqualTo(State.ASKING);
    assertThat(each.get(2).state()).as("half of host memory is taken").isEqualTo(State.NEW);
    each.get(0).release();
    assertThat(each.get(2).state()).isEqualTo(State.ASKING);
    reads.release(10);
    await(each.get(1), State.ENDED);
    await(each.get(2), State.ENDED);
    assertThat(ended).containsExactlyInAnyOrder(chains[1], chains[2]);
    assertThat(loadBacks.announcementStats()).isEqualTo(new AnnouncementStats(3, 2 * PAGES, 1));
  }

  @Test
  void aTransitionThatTheDrawingLacksIsRefused() {
    LoadBack each = new LoadBack(null, CHAIN, 0, PAGES, null, 0);
    assertThatThrownBy(() -> each.to(State.COPYING)).isInstanceOf(IllegalStateException.class);
    each.to(State.ASKING);
    each.to(State.READY);
    assertThatThrownBy(() -> each.to(State.READING))
        .hasMessageContaining("READY")
        .hasMessageContaining("READING");
    each.to(State.ENDED);
    for (State next : State.values()) {
      assertThat(State.ENDED.mayBecome(next)).isFalse();
    }
  }
}
