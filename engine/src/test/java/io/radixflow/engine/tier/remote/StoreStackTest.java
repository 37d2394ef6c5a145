package io.radixflow.engine.tier.remote;

import static io.radixflow.engine.Patience.await;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import io.radixflow.protocol.record.kv.KvTier;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pages go from the upper store to the lower one, and leave both. */
@Timeout(180)
class StoreStackTest {
  private static final long AN_HOUR = 3_600_000;

  private final MemoryPageStore upper = new MemoryPageStore();
  private final MemoryPageStore lower = new MemoryPageStore(KvTier.REMOTE);
  private final AtomicBoolean ready = new AtomicBoolean(true);

  private StoreStack stack(long delayMillis) {
    return new StoreStack(
        upper, lower, new Uploads(upper, lower, ready::get, PageSizes.of(PAGE_BYTES), delayMillis));
  }

  @Test
  void pagesArriveBelowWithTheirBytes() {
    Chain chain = chain(1, 200, "one", 7);
    try (StoreStack stack = stack(0)) {
      write(stack, chain);
      await().until(() -> stack.queuedPages() == 0);
      assertThat(TierPages.read(lower, chain)).isEqualTo(200);
      assertThat(lower.page(chain.ids()[5])).isEqualTo(chain.pages()[5]);
    }
    assertThat(upper.isClosed() && lower.isClosed()).isTrue();
  }

  @Test
  void pagesRemovedBeforeTheirUploadAreNotUploaded() {
    Chain chain = chain(1, 10, "one", 7);
    StoreStack stack = stack(AN_HOUR);
    write(stack, chain);
    stack.erase(chain.ids());
    stack.close();
    assertThat(lower.size()).isZero();
  }

  @Test
  void waitingPagesAreUploadedWhenTheStoreIsClosed() {
    StoreStack stack = stack(AN_HOUR);
    write(stack, chain(1, 150));
    assertThat(lower.size()).isZero();
    stack.close();
    assertThat(lower.size()).isEqualTo(150);
  }

  @Test
  void pagesRemovedDuringTheirUploadAreRemovedBelow() throws Exception {
    Chain chain = chain(1, 10, "one", 7);
    Semaphore gate = lower.slowDown();
    try (StoreStack stack = stack(0)) {
      write(stack, chain);
      await().until(gate::hasQueuedThreads);
      stack.removeTenant(7);
      CompletableFuture<Void> erased = stack.erased();
      assertThat(erased).isNotDone();
      gate.release(100);
      erased.join();
      stack.erased().get(60, TimeUnit.SECONDS);
      assertThat(lower.size()).isZero();
    }
  }

  @Test
  void pagesWaitWhileTheLowerStoreDoesNotAnswer() {
    ready.set(false);
    try (StoreStack stack = stack(0)) {
      write(stack, chain(1, 10));
      assertThat(stack.queuedPages()).isEqualTo(10);
      assertThat(lower.size()).isZero();
      ready.set(true);
      await().until(() -> lower.size() == 10);
    }
  }

  @Test
  void pagesThatCouldNotBeCopiedAreTriedAgain() {
    Semaphore gate = lower.slowDown();
    lower.fail(true);
    try (StoreStack stack = stack(0)) {
      write(stack, chain(1, 10));
      gate.release();
      await().until(() -> gate.availablePermits() == 0 && gate.hasQueuedThreads());
      assertThat(lower.size()).isZero();
      lower.fail(false);
      gate.release(100);
      await().until(() -> lower.size() == 10);
      assertThat(stack.droppedPages()).isZero();
    }
  }

  /** Returns the lower store, whose first write breaks the thread that does not expect it. */
  private PageStore broken() {
    AtomicBoolean failed = new AtomicBoolean();
    return (PageStore)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {PageStore.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("write") && failed.compareAndSet(false, true)) {
                throw new LinkageError("injected");
              }
              return method.invoke(lower, arguments);
            });
  }

  @Test
  void anUploadThatFailsWhateverTheCauseIsTriedAgain() {
    Uploads uploads = new Uploads(upper, broken(), ready::get, PageSizes.of(PAGE_BYTES), 0);
    try (StoreStack stack = new StoreStack(upper, lower, uploads)) {
      write(stack, chain(1, 10, "one", 7));
      await().until(() -> lower.size() == 10);
    }
  }
}
