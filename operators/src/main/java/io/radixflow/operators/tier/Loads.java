package io.radixflow.operators.tier;

import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.device.Uninterruptibly;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Copies of pages from the host to the device: those of all requests that are admitted together are
 * one, and one is under way at a time. Engine thread only.
 */
final class Loads {
  /** Pages of one copy; what a device takes at most. */
  private static final int MAX_PAGES = 4096;

  private final KvPool pool;
  private final HostTier host;
  private final LoadModel model;
  private final Misses misses;
  private final Consumer<Retrieval> release;
  private final LongSupplier nanoClock;
  private final int[] devicePages = new int[MAX_PAGES];
  private final int[] hostPages = new int[MAX_PAGES];
  private final List<Retrieval> batch = new ArrayList<>();
  private int size;
  private long began;
  private Transfer transfer;
  private long pages;
  private long failures;

  /**
   * @param release gets each retrieval whose pages have been copied, or will not be
   */
  Loads(
      KvPool pool,
      HostTier host,
      LoadModel model,
      Misses misses,
      Consumer<Retrieval> release,
      LongSupplier nanoClock) {
    this.pool = pool;
    this.host = host;
    this.model = model;
    this.misses = misses;
    this.release = release;
    this.nanoClock = nanoClock;
  }

  /** Pages copied. */
  long pages() {
    return pages;
  }

  /** Copies that failed. */
  long failures() {
    return failures;
  }

  boolean isUnderWay() {
    return transfer != null;
  }

  /** Whether no pages are being copied, or are to be. */
  boolean isIdle() {
    return size == 0;
  }

  /** See {@link HiRadixCache#load}. */
  int add(Retrieval retrieval, int from, int count, int[] table) {
    int added = Math.min(count, MAX_PAGES - size);
    if (transfer != null || added == 0 || host.isHeld()) {
      return 0;
    }
    for (int i = from; i < from + added; i++) {
      devicePages[size] = table[i];
      hostPages[size++] = retrieval.entries.get(i - retrieval.from).hostPage;
    }
    retrieval.loading = true;
    retrieval.loadedFrom = from;
    retrieval.loaded = added;
    batch.add(retrieval);
    return added;
  }

  /** Begins to copy what was added. */
  void start() {
    if (size == 0 || transfer != null) {
      return;
    }
    began = nanoClock.getAsLong();
    try {
      transfer = pool.copyIn(devicePages, host.memory(), hostPages, size);
    } catch (RuntimeException e) {
      finish(e);
    }
  }

  /** Takes note of the end of a copy; whether there was one. */
  boolean poll() {
    if (transfer == null || !transfer.isDone()) {
      return false;
    }
    finish(transfer.failure());
    return true;
  }

  /** Waits for the copy under way. */
  void await() {
    if (transfer != null) {
      Uninterruptibly.await(transfer::await);
      finish(transfer.failure());
    }
  }

  /** Waits for the copy under way, whose pages are void. */
  void abandon() {
    if (transfer != null) {
      Uninterruptibly.await(transfer::await);
    }
    if (size > 0) {
      finish(new IllegalStateException("the pool was emptied"));
    }
  }

  private void finish(Throwable failure) {
    transfer = null;
    if (failure == null) {
      pages += size;
      model.copied(size, nanoClock.getAsLong() - began);
    } else {
      failures++;
      misses.add(MissReason.IO, size);
    }
    size = 0;
    for (Retrieval each : batch) {
      each.loading = false;
      each.failure = failure;
      release.accept(each);
    }
    batch.clear();
  }

  /** See {@link HiRadixCache#calibrate}. */
  void calibrate(int most, int rounds) {
    int count = Math.min(most, Math.min(pool.pages(), host.total()));
    for (int i = 0; i < count; i++) {
      devicePages[i] = i;
      hostPages[i] = i;
    }
    for (int round = 0; round < rounds; round++) {
      for (int some = 1; some <= count; some += Math.max(1, count - 1)) {
        long start = nanoClock.getAsLong();
        Transfer copy = pool.copyIn(devicePages, host.memory(), hostPages, some);
        Uninterruptibly.await(copy::await);
        if (round > 0 && copy.failure() == null) {
          model.copied(some, nanoClock.getAsLong() - start);
        }
      }
    }
  }
}
