package io.radixflow.operators.tier;

import io.radixflow.operators.cache.KvEventListener;
import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.cache.key.RadixKey;
import io.radixflow.operators.cache.session.SessionPosition;
import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.tier.loadback.LoadBack;
import io.radixflow.operators.tier.page.PageChain;
import io.radixflow.operators.tier.page.PageId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/** The tiers of an engine that has only its device: no page is ever found, kept or awaited. */
public final class NoTiers implements Tiers {
  @Override
  public void attach(RadixCache cache, PageAllocator allocator) {}

  @Override
  public void listen(KvEventListener listener) {}

  @Override
  public List<KvEvent.Stored> content() {
    return List.of();
  }

  @Override
  public void used(TreeNode end) {}

  @Override
  public boolean copiesLeavingPages() {
    return false;
  }

  @Override
  public int leavingPages() {
    return 0;
  }

  @Override
  public boolean isLeaving(int page) {
    return false;
  }

  @Override
  public void forEachLeavingPage(IntConsumer visitor) {}

  /** Null: a name costs a SHA-256 a page, and would be used for nothing. */
  @Override
  public PageChain name(RadixKey key, String tenant) {
    return null;
  }

  @Override
  public LoadBack loadBack(PageChain chain, int devicePages, int limit) {
    return null;
  }

  @Override
  public LoadBack announce(PageChain chain, int devicePages, Runnable onEnd) {
    return null;
  }

  @Override
  public int pagesAtHand(PageChain chain, int devicePages) {
    return devicePages;
  }

  @Override
  public boolean mustWait(LoadBack loadBack, int devicePages) {
    return false;
  }

  @Override
  public int copy(LoadBack loadBack, int devicePages, int end, int[] table) {
    return 0;
  }

  @Override
  public void startCopies() {}

  @Override
  public void awaitCopies() {}

  @Override
  public void release(LoadBack loadBack) {}

  @Override
  public boolean poll() {
    return false;
  }

  @Override
  public long pollNanos() {
    return 0;
  }

  @Override
  public void computed(int position, int tokens, long nanos) {}

  @Override
  public void calibrate(Runnable prefills) {}

  @Override
  public void closed(List<SessionPosition> positions) {}

  @Override
  public void left(SessionPosition left, List<SessionPosition> others) {}

  @Override
  public void erase(RadixKey key) {}

  @Override
  public CompletableFuture<Boolean> erase(PageId[] pages) {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public CompletableFuture<Boolean> eraseTenant(String tenant) {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public CompletableFuture<Boolean> eraseAll() {
    return CompletableFuture.completedFuture(false);
  }

  @Override
  public void locate(PageChain chain, int devicePages, Consumer<int[]> then) {
    then.accept(new int[KvTier.values().length]);
  }

  @Override
  public TierSwitches switches() {
    throw new IllegalStateException("the engine has no tiers below the device");
  }

  @Override
  public boolean isMoving() {
    return false;
  }

  @Override
  public TierStats stats() {
    return TierStats.NONE;
  }

  @Override
  public boolean refreshStats() {
    return false;
  }

  @Override
  public boolean audit() {
    return true;
  }

  @Override
  public void close() {}
}
