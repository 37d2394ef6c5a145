package io.radixflow.engine.tier.disk;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageCodec;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.engine.tier.store.StoreCounters;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pages on a local disk, as blobs of a RocksDB. A page and its entry in the index ({@link
 * DiskIndex}) are written and deleted in one batch, so they never disagree. A page survives the
 * process after {@link #write} has returned. After a power failure lost pages are misses, but
 * removed pages do not come back.
 *
 * <p>Room is made by evicting the pages that were written first. If a page of the older half is
 * read, it is written again together with the pages before it in its conversation. So eviction
 * follows the order of last use. Blob files contain pages in the order in which they were written.
 * So a file is deleted as a whole when its pages are evicted, and no pages are copied to make room.
 * Pages that were not written for {@link DiskTierOptions#retentionMillis} are also evicted.
 *
 * <p>A damaged page is dropped. If the index or RocksDB itself is damaged, all pages are dropped
 * ({@link PageDatabase}).
 *
 * <p>Threads: reads take no lock. Changes take the monitor of the index. Making room first takes
 * {@code room}, then that monitor. The store's own thread makes room before it is needed, writes
 * pages again and repairs. If a read stops at a page, only that page counts as a miss, not the
 * pages after it.
 */
public final class DiskStore implements PageStore {
  /**
   * The approximate maximum number of bytes that a page takes on disk in addition to its content.
   */
  static final long OVERHEAD_BYTES = 600;

  private static final Logger LOG = LoggerFactory.getLogger(DiskStore.class);
  private static final int MAX_BATCH = 256;
  private static final long MAX_BATCH_BYTES = 8L << 20;

  /** One part in this many of the limit is freed at a time. */
  private static final int PARTS = 16;

  /** A write buffer has one part in this many of the limit. */
  private static final int BUFFERS = 64;

  private static final long MIN_BUFFER = 64L << 10;
  private static final long MAX_BUFFER = 64L << 20;

  /** Buffers that stay free for files that are written while others are deleted. */
  private static final int SPARE_BUFFERS = 8;

  private static final int MAX_USED = 256;
  private static final long PERIOD_MILLIS = 1_000;
  private static final long CLOSE_SECONDS = 10;

  /** Reasons for which a page would be missed again. */
  private static final Set<MissReason> DAMAGE =
      EnumSet.complementOf(EnumSet.of(MissReason.ABSENT, MissReason.NAMESPACE));

  private final Path directory;
  private final DiskTierOptions options;
  private final DiskIndex index;
  private final DiskReader reader;
  private final PageCodec codec;
  private final TenantKeys keys;
  private final LongSupplier clock;
  private final PageSizes sizes;
  private final long bufferBytes;
  private final int batchPages;
  private final StoreCounters counters = new StoreCounters();
  private final ScheduledExecutorService upkeep;

  /**
   * Conversations up to the last page that was read; conversations that do not fit are left out.
   */
  private final LinkedBlockingQueue<PageId[]> used = new LinkedBlockingQueue<>(MAX_USED);

  private final Object room = new Object();
  private volatile long limitBytes;
  private volatile boolean closed;

  /**
   * Opens a store over the existing files of its directory.
   *
   * @param directory created if it does not exist
   * @param epoch numerics epoch of the engine; pages of other epochs are deleted
   * @param sizes bytes of a page
   * @param keys the keys that encrypt pages
   * @throws IOException if the directory is in use, or cannot be created or read
   * @throws IllegalArgumentException if the limit is too small for pages of this size
   */
  public static DiskStore open(
      Path directory, DiskTierOptions options, String epoch, PageSizes sizes, TenantKeys keys)
      throws IOException {
    return new DiskStore(directory, options, epoch, sizes, keys, System::currentTimeMillis);
  }

  /**
   * See {@link #open}.
   *
   * @param clock milliseconds since the epoch
   */
  DiskStore(
      Path directory,
      DiskTierOptions options,
      String epoch,
      PageSizes sizes,
      TenantKeys keys,
      LongSupplier clock)
      throws IOException {
    this.directory = directory;
    this.options = options;
    this.sizes = sizes;
    this.keys = keys;
    this.clock = clock;
    limitBytes = checkedLimit(options.limitBytes());
    bufferBytes = Math.max(MIN_BUFFER, Math.min(MAX_BUFFER, limitBytes / BUFFERS));
    codec = new PageCodec(keys, epoch, sizes);
    long batchBytes = Math.min(MAX_BATCH_BYTES, 2 * bufferBytes);
    batchPages = (int) Math.max(1, Math.min(MAX_BATCH, batchBytes / codec.maxBytes()));
    PageDatabase database =
        PageDatabase.open(directory.resolve("pages"), bufferBytes, epoch + " " + sizes.page());
    index = new DiskIndex(database);
    reader = new DiskReader(database, codec);
    upkeep =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "disk-tier");
              thread.setDaemon(true);
              return thread;
            });
    upkeep.scheduleWithFixedDelay(
        this::keepUp, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private long checkedLimit(long bytes) {
    long least = DiskTierOptions.leastBytes(sizes.largest());
    if (bytes < least) {
      throw new IllegalArgumentException(
          "a disk tier of %d bytes is too small for pages of %d bytes: it needs %d"
              .formatted(bytes, sizes.largest(), least));
    }
    return bytes;
  }

  @Override
  public KvTier tier() {
    return KvTier.DISK;
  }

  @Override
  public int find(PageId[] chain, int from, int to) {
    return index.find(chain, from, to);
  }

  @Override
  public int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    if (closed || from >= to) {
      return 0;
    }
    DiskReader.Result result = reader.read(chain, namespaces, from, to, into);
    int pages = result.pages();
    counters.read.add(pages);
    if (result.miss() != null) {
      counters.miss(result.miss());
      if (DAMAGE.contains(result.miss())) { // so that it can be written again
        index.drop(chain[from + pages]);
      }
    }
    if (pages > 0 && index.bytes() > limitBytes / 2) { // else no page is evicted soon
      used.offer(Arrays.copyOf(chain, from + pages));
    }
    return pages;
  }

  @Override
  public boolean copy(TierPage page, ByteBuffer into) {
    PageId[] id = {page.id()};
    String[] namespace = {page.namespace()};
    return !closed && reader.read(id, namespace, 0, 1, new ByteBuffer[] {into}).pages() == 1;
  }

  @Override
  public int write(TierPage[] pages, ByteBuffer[] bytes, int count) {
    int failed = 0;
    for (int from = 0; from < count && !closed; from += batchPages) {
      int to = Math.min(count, from + batchPages);
      // in the log and in a blob file, until the log is deleted
      boolean fits = makeRoom(2 * (to - from) * (codec.maxBytes() + OVERHEAD_BYTES));
      int added = fits ? add(pages, bytes, from, to) : -1;
      counters.written.add(Math.max(0, added));
      failed += added < 0 ? to - from : 0;
    }
    counters.failedWrites.add(failed);
    if (isFull(limitBytes / PARTS)) {
      wake();
    }
    return failed;
  }

  private int add(TierPage[] pages, ByteBuffer[] bytes, int from, int to) {
    ByteBuffer buffer = reader.takeBuffer();
    try {
      long now = clock.getAsLong();
      return index.add(
          Arrays.asList(pages).subList(from, to),
          now,
          i -> {
            codec.encode(pages[from + i], bytes[from + i], now, buffer);
            return buffer;
          });
    } finally {
      reader.giveBack(buffer);
    }
  }

  /**
   * Returns whether {@code bytes} more bytes do not fit, or would leave too little space for other
   * programs.
   */
  private boolean isFull(long bytes) {
    return index.bytes() + bytes > limitBytes - SPARE_BUFFERS * bufferBytes
        || options.minFreeBytes() > 0 && usableBytes() < bytes + options.minFreeBytes();
  }

  private long usableBytes() {
    try {
      return Files.getFileStore(directory).getUsableSpace();
    } catch (IOException e) {
      LOG.debug("The free bytes of the file system of {} are unknown", directory, e);
      return Long.MAX_VALUE;
    }
  }

  private boolean makeRoom(long bytes) {
    if (!isFull(bytes)) {
      return true;
    }
    synchronized (room) {
      while (isFull(bytes)) {
        long pages = Math.max(bytes, limitBytes / PARTS) / (codec.maxBytes() + OVERHEAD_BYTES) + 1;
        int evicted = evict(pages, Long.MAX_VALUE);
        index.compact();
        if (evicted == 0) {
          return false;
        }
      }
      return true;
    }
  }

  private int evict(long most, long before) {
    int evicted = index.evict(most, before);
    counters.evicted.add(evicted);
    return evicted;
  }

  @Override
  public void remove(PageId[] pages, int size) {
    index.remove(pages, size);
  }

  @Override
  public void erase(PageId[] pages) {
    index.erase(pages);
  }

  @Override
  public void removeTenant(long tenant) {
    keys.deleteAll(tenant);
    index.removeTenant(tenant);
  }

  @Override
  public void clear() {
    index.clear();
  }

  /** {@inheritDoc} Removals are forced to the device before they return, unless the disk fails. */
  @Override
  public CompletableFuture<Void> erased() {
    return index.isHealthy()
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(new IOException("disk tier " + directory + " fails"));
  }

  @Override
  public void resize(long bytes) {
    limitBytes = checkedLimit(bytes);
    wake();
  }

  /** Wakes the store's own thread; the future completes when the thread has done its work. */
  Future<?> wake() {
    try {
      return upkeep.submit(this::keepUp);
    } catch (RejectedExecutionException closing) {
      LOG.debug("Disk tier {} closes", directory);
      return CompletableFuture.completedFuture(null);
    }
  }

  /** Does the work of the store's own thread. */
  private void keepUp() {
    try {
      index.heal();
      makeRoom(limitBytes / PARTS);
      if (evict(Long.MAX_VALUE, clock.getAsLong() - options.retentionMillis()) > 0) {
        index.compact();
      }
      for (PageId[] chain = used.poll(); chain != null && !closed; chain = used.poll()) {
        keep(chain);
      }
    } catch (RuntimeException e) { // without this thread no room would be made
      LOG.warn("Maintenance of disk tier {} failed", directory, e);
    }
  }

  /** Writes pages of a conversation again if they would soon be evicted. */
  private void keep(PageId[] chain) {
    ByteBuffer buffer = reader.takeBuffer();
    index.keep(chain, clock.getAsLong(), buffer);
    reader.giveBack(buffer);
  }

  @Override
  public PageStoreStats stats() {
    return counters.stats(index.pages(), index.bytes(), limitBytes);
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    upkeep.shutdownNow();
    try {
      upkeep.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    reader.close();
    index.close();
  }
}
