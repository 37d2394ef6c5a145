package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageCodec;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.engine.tier.store.StoreCounters;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.engine.tier.store.TransferThreads;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pages in a file system that all TaskManagers reach: one object per page, named by its digest, so
 * that any engine of the same numerics epoch finds the page without asking another engine.
 *
 * <p>An object is created once. A half-written or damaged object is found when it is read, and
 * deleted, so that it can be written again. Pages that are too old or too many are deleted by
 * {@link RemoteSweep}.
 *
 * <p>A removed page is a miss for this engine immediately. For another engine it is a miss when the
 * page is deleted and the engine has forgotten it ({@link KnownPages}). A tenant's pages are
 * unreadable once its keys are deleted in all engines; their objects are deleted when they are too
 * old. {@link #stats} counts only the pages and bytes that this process wrote.
 */
public final class RemoteStore implements PageStore {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteStore.class);
  private static final Set<MissReason> DAMAGE =
      Set.of(MissReason.TRUNCATED, MissReason.CHECKSUM, MissReason.DIGEST, MissReason.KEY);

  private static final long CLOSE_SECONDS = 10;

  private final RemoteTierOptions options;
  private final RemotePages pages;
  private final TenantKeys keys;
  private final int objectBytes;
  private final boolean hasWindows;
  private final LongSupplier clock;
  private final KnownPages known;
  private final StoreCounters counters = new StoreCounters();
  private final ScheduledExecutorService upkeep;
  private final Deletions deletions;
  private final RemoteSweep sweep;
  private final ThreadPoolExecutor reads;
  private final ThreadPoolExecutor writes;
  private final RateLimit rate;
  private final Set<PageId> gone = ConcurrentHashMap.newKeySet();
  private final ReadWriteLock erasing = new ReentrantReadWriteLock();
  private volatile boolean cleared;
  private volatile boolean closed;

  RemoteStore(
      RemoteTierOptions options,
      GuardedFiles files,
      TenantKeys keys,
      String epoch,
      PageSizes sizes,
      LongSupplier clock) {
    PageCodec codec = new PageCodec(keys, epoch, sizes);
    this.options = options;
    this.keys = keys;
    this.clock = clock;
    this.pages = new RemotePages(files, epoch, codec);
    this.objectBytes = codec.maxBytes();
    this.hasWindows = sizes.window() > 0;
    this.known = new KnownPages(KnownPages.CAPACITY, clock);
    this.reads = TransferThreads.open("remote-tier-read", options.transfers());
    this.writes = TransferThreads.open("remote-tier-write", options.transfers());
    this.rate = new RateLimit(options.bytesPerSecond());
    this.upkeep =
        new ScheduledThreadPoolExecutor(
            2, TransferThreads.named("remote-tier-upkeep"), new ThreadPoolExecutor.DiscardPolicy());
    this.deletions = new Deletions(upkeep);
    this.sweep = new RemoteSweep(pages, options, clock, this::deleteObjects, upkeep);
  }

  /**
   * Opens a store.
   *
   * @param epoch numerics epoch of the engine
   * @param sizes bytes of a page
   * @param files the folder of all engines; the store closes it
   * @param keys the keys that encrypt pages
   */
  public static RemoteStore open(
      RemoteTierOptions options,
      String epoch,
      PageSizes sizes,
      RemoteFiles files,
      TenantKeys keys) {
    GuardedFiles guarded =
        new GuardedFiles(
            files,
            options.timeoutMillis(),
            2 * options.transfers(),
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()));
    return new RemoteStore(options, guarded, keys, epoch, sizes, System::currentTimeMillis);
  }

  @Override
  public KvTier tier() {
    return KvTier.REMOTE;
  }

  /**
   * Runs several transfers at a time; returns the results of {@code from .. to-1}, in order. All
   * transfers have ended when this returns or throws, so the caller may use its buffers again.
   */
  private static <T> List<T> each(Executor threads, int from, int to, IntFunction<T> transfer) {
    List<CompletableFuture<T>> running = new ArrayList<>();
    for (int i = from; i < to; i++) {
      int page = i;
      running.add(CompletableFuture.supplyAsync(() -> transfer.apply(page), threads));
    }
    CompletableFuture.allOf(running.toArray(CompletableFuture[]::new))
        .exceptionally(e -> null)
        .join();
    return running.stream().map(CompletableFuture::join).toList();
  }

  @Override
  public int find(PageId[] chain, int from, int to) {
    int at = from;
    // often there is nothing, and looking for the first page alone shows that
    int some = 1;
    while (at < to && !closed) {
      int until = Math.min(to, at + some);
      int found = each(reads, at, until, i -> exists(chain[i], counters::miss)).indexOf(false);
      if (found >= 0) {
        return at + found - from;
      }
      at = until;
      some = options.transfers();
    }
    return at - from;
  }

  /** Returns whether a page was removed, even if it is not deleted yet. */
  private boolean isGone(PageId id) {
    return cleared || gone.contains(id);
  }

  /**
   * @param failed receives the reason if the file system does not answer
   */
  private boolean exists(PageId id, Consumer<MissReason> failed) {
    if (isGone(id)) {
      return false;
    }
    try {
      boolean there = known.contains(id) || pages.exists(id);
      if (there) {
        known.add(id);
      }
      return there;
    } catch (IOException e) {
      failed.accept(RemotePages.reason(e));
      return false;
    }
  }

  /** Returns whether the file system is believed to answer. */
  boolean isReady() {
    return pages.isReady();
  }

  @Override
  public int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    int at = from;
    while (at < to && !closed) {
      int until = Math.min(to, at + options.transfers());
      for (Optional<MissReason> miss : readSome(chain, namespaces, at, until, into)) {
        if (miss.isPresent()) {
          missed(chain[at], miss.get());
          return at - from;
        }
        counters.read.increment();
        known.add(chain[at++]);
      }
    }
    return at - from;
  }

  /**
   * Takes the lock once for all transfers: a transfer that waits for the lock could delay one that
   * has it.
   */
  private List<Optional<MissReason>> readSome(
      PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    erasing.readLock().lock();
    try {
      return each(
          reads, from, to, i -> Optional.ofNullable(readOne(chain, i, namespaces[i], into[i])));
    } finally {
      erasing.readLock().unlock();
    }
  }

  private MissReason readOne(PageId[] chain, int i, String namespace, ByteBuffer into) {
    return isGone(chain[i]) ? MissReason.ABSENT : pages.read(chain, i, namespace, into);
  }

  /**
   * Counts a miss, and deletes a page that would be missed again, so that it can be written again.
   */
  private void missed(PageId id, MissReason reason) {
    counters.miss(reason);
    known.remove(id);
    if (DAMAGE.contains(reason)) {
      delete(id);
    }
  }

  @Override
  public int write(TierPage[] pages, ByteBuffer[] bytes, int count) {
    if (closed) {
      return 0;
    }
    List<Boolean> there = each(writes, 0, count, i -> exists(pages[i].id(), reason -> {}));
    List<Integer> missing = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (!there.get(i)) {
        missing.add(i);
      }
    }
    if (!rate.pass((long) missing.size() * objectBytes)) {
      return 0;
    }
    erasing.readLock().lock();
    try {
      // a page must not be written while it is still being deleted
      missing.removeIf(i -> closed || isGone(pages[i].id()));
      int written =
          Collections.frequency(
              each(
                  writes,
                  0,
                  missing.size(),
                  i -> write(pages[missing.get(i)], bytes[missing.get(i)])),
              true);
      counters.written.add(written);
      counters.failedWrites.add(missing.size() - written);
      return missing.size() - written;
    } finally {
      erasing.readLock().unlock();
    }
  }

  private boolean write(TierPage page, ByteBuffer bytes) {
    try {
      pages.write(page, bytes, clock.getAsLong());
      known.add(page.id());
      return true;
    } catch (IOException | RuntimeException e) {
      LOG.debug("Page {} was not stored in the remote tier", page.id(), e);
      return false;
    }
  }

  /** Returns how many objects were deleted; the next sweep finds the rest. */
  private int deleteObjects(List<String> names) {
    int deleted = 0;
    for (int from = 0; from < names.size() && !closed; from += options.transfers()) {
      int to = Math.min(names.size(), from + options.transfers());
      for (boolean done : each(writes, from, to, i -> deleteObject(names.get(i)))) {
        deleted += done ? 1 : 0;
      }
    }
    counters.evicted.add(deleted);
    return deleted;
  }

  private boolean deleteObject(String name) {
    try {
      pages.delete(name);
      return true;
    } catch (IOException e) {
      LOG.debug("Object {} of the remote tier is not deleted", name, e);
      return false;
    }
  }

  /** Deletes objects that are too old or too many; see {@link RemoteSweep#run}. */
  int sweep() throws IOException {
    return sweep.run();
  }

  private void delete(PageId id) {
    if (!gone.add(id)) {
      return; // its object is yet to be deleted, and none is written before that
    }
    known.remove(id);
    deletions.add(
        () -> {
          pages.delete(pages.name(id));
          exclusively(() -> gone.remove(id));
        });
  }

  @Override
  public void remove(PageId[] pages, int count) {
    exclusively(
        () -> {
          for (int i = 0; i < count; i++) {
            delete(pages[i]);
            if (hasWindows) {
              delete(pages[i].window());
            }
          }
        });
  }

  /**
   * Changes what counts as removed while no page is read or written: pages that were being written
   * are then in the lists, and pages that are being read were not removed.
   */
  private void exclusively(Runnable change) {
    erasing.writeLock().lock();
    try {
      change.run();
    } finally {
      erasing.writeLock().unlock();
    }
  }

  @Override
  public void removeTenant(long tenant) {
    keys.deleteAll(tenant);
    known.clear();
  }

  /** Removes the pages of this numerics epoch, for all engines. */
  @Override
  public void clear() {
    exclusively(
        () -> {
          cleared = true;
          known.clear();
          deletions.add(
              () -> {
                pages.clear();
                exclusively(() -> cleared = false);
              });
        });
  }

  @Override
  public CompletableFuture<Void> erased() {
    return deletions.done();
  }

  @Override
  public PageStoreStats stats() {
    long written = counters.written.sum();
    return counters.stats(written, written * objectBytes, Long.MAX_VALUE);
  }

  @Override
  public void closing() {
    rate.close();
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    rate.close();
    sweep.close();
    upkeep.shutdown();
    try {
      upkeep.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    upkeep.shutdownNow();
    reads.shutdown();
    writes.shutdown();
    try {
      pages.close();
    } catch (IOException e) {
      LOG.warn("The remote tier at {} did not close", options.uri(), e);
    }
  }
}
