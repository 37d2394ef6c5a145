package io.radixflow.engine.tier.loadback;

import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.kernels.device.Uninterruptibly;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Copies of pages from the host to the device. All requests that are admitted together share one
 * copy, and one copy is in progress at a time. Engine thread only.
 */
public final class HostToDeviceCopies {
  /** The maximum number of pages of one copy, which is also the limit of devices. */
  private static final int MAX_PAGES = 4096;

  private static final int CALIBRATION_PAGES = 4;

  /** The number of measured rounds of copies; the first round is slower and does not count. */
  private static final int CALIBRATION_ROUNDS = 3;

  private final KvPool pool;
  private final HostTier host;
  private final LoadCostModel model;
  private final Consumer<LoadBack> ended;
  private final LongSupplier nanoClock;
  private final int[] devicePages = new int[MAX_PAGES];
  private final int[] hostPages = new int[MAX_PAGES];
  private final List<LoadBack> batch = new ArrayList<>();
  private CacheComponent component = CacheComponent.NONE;
  private int size;
  private int addedPages;
  private long began;
  private Transfer transfer;
  private long pages;
  private long failures;

  /**
   * @param ended receives each load-back when its pages were copied or the copy failed
   */
  HostToDeviceCopies(
      KvPool pool,
      HostTier host,
      LoadCostModel model,
      Consumer<LoadBack> ended,
      LongSupplier nanoClock) {
    this.pool = pool;
    this.host = host;
    this.model = model;
    this.ended = ended;
    this.nanoClock = nanoClock;
  }

  /** From now on, also copies into these parts. */
  void attach(CacheComponent parts) {
    component = parts;
  }

  public long pages() {
    return pages;
  }

  public long failures() {
    return failures;
  }

  public boolean isInProgress() {
    return transfer != null;
  }

  /** Returns whether no page is being copied or waits for a copy. */
  public boolean isIdle() {
    return size == 0;
  }

  /**
   * Adds pages of a load-back, which fill {@code table} from page {@code from} on. Also adds the
   * window parts before their end; these parts are locked.
   *
   * @return the number of added pages; 0 if the pool now has too few parts
   */
  int add(LoadBack loadBack, int from, int count, int[] table) {
    LoadedWindows windows = loadBack.windows;
    int added = Math.min(count, MAX_PAGES - size - windows.endPages());
    if (added > 0) {
      added = windows.usableEnd(from, from + added) - from;
    }
    if (transfer != null || added <= 0 || host.isHeld()) {
      return 0;
    }
    int end = from + added;
    int windowFrom = Math.max(from, windows.from(end));
    if (!attachParts(table, windowFrom, end)) {
      return 0;
    }
    for (int i = from; i < end; i++) {
      add(table[i], loadBack.pages.get(i - loadBack.from));
    }
    for (int i = windowFrom; i < end; i++) {
      add(pool.pages() + component.part(table[i]), windows.part(i));
    }
    addedPages += added;
    loadBack.copying(from, added);
    batch.add(loadBack);
    return added;
  }

  private void add(int devicePage, HostPage page) {
    devicePages[size] = devicePage;
    hostPages[size++] = page.slot;
  }

  /** Gives parts to all pages of a range of the table, or to none of them. */
  private boolean attachParts(int[] table, int from, int to) {
    for (int i = from; i < to; i++) {
      if (!component.attach(table[i])) {
        while (i > from) {
          component.unlock(table[--i], false);
        }
        return false;
      }
    }
    return true;
  }

  /** Starts copying the added pages. */
  public void start() {
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

  /** Handles the end of a copy; returns whether one has ended. */
  boolean poll() {
    if (transfer == null || !transfer.isDone()) {
      return false;
    }
    finish(transfer.failure());
    return true;
  }

  /** Waits for the copy in progress. */
  public void await() {
    if (transfer != null) {
      Uninterruptibly.await(transfer::await);
      finish(transfer.failure());
    }
  }

  /** Waits for the copy in progress and discards its pages. */
  public void abandon() {
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
      pages += addedPages;
      model.copied(size, nanoClock.getAsLong() - began);
    } else {
      failures++;
      host.misses().add(MissReason.IO, addedPages);
    }
    size = 0;
    addedPages = 0;
    for (LoadBack each : batch) {
      each.failed(failure);
      ended.accept(each);
    }
    batch.clear();
  }

  /** Measures how long copies take, before the first request; blocks. */
  public void calibrate() {
    int count = Math.min(CALIBRATION_PAGES, Math.min(pool.pages(), host.total()));
    for (int i = 0; i < count; i++) {
      devicePages[i] = i;
      hostPages[i] = i;
    }
    for (int round = 0; round < CALIBRATION_ROUNDS; round++) {
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
