package io.radixflow.operators.tier.disk;

import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.tier.page.MissReason;
import io.radixflow.operators.tier.page.PageId;
import io.radixflow.operators.tier.page.TierPage;
import io.radixflow.operators.tier.store.PageCodec;
import io.radixflow.operators.tier.store.PageStore;
import io.radixflow.operators.tier.store.PageStoreStats;
import io.radixflow.operators.tier.store.StoreCounters;
import io.radixflow.operators.tier.store.TenantKeys;
import io.radixflow.operators.tier.store.TransferThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pages on a local disk, as blobs of a RocksDB. A page and its entry in the index ({@link
 * DiskIndex}) are written and deleted in one batch, so they never disagree. A page outlives the
 * process once {@link #write} has returned; after a power failure pages that were lost are misses,
 * but none that was removed comes back.
 *
 * <p>Room is made from the page on that was written first. A page of the older half that is read is
 * written again, with those before it in its conversation, and so comes last: pages go by how long
 * they were not read. Blob files hold pages in the order in which they were written, so that they
 * are deleted as a whole when their pages went, and nothing is copied to make room. Pages that were
 * neither written nor read for {@link DiskStoreOptions#retentionMillis} go as well.
 *
 * <p>What cannot be read any more is dropped: a damaged page, or, if the index or RocksDB itself is
 * damaged, all pages ({@link PageDatabase}).
 *
 * <p>Threads: reads take no lock; writes and removals share the monitor {@code writing}, making
 * room has {@code room}, which is taken first. The store's own thread makes room ahead of need,
 * writes pages again and repairs. Of the pages of a read, the one at which it stopped is counted as
 * a miss, not those behind it.
 */
public final class DiskStore implements PageStore {
  /** Bytes that a page takes on disk beside its own, at most about. */
  static final long OVERHEAD_BYTES = 600;

  private static final Logger LOG = LoggerFactory.getLogger(DiskStore.class);
  private static final int MAX_BATCH = 256;
  private static final long MAX_BATCH_BYTES = 8L << 20;

  /** Pages that are removed at once when many go. */
  private static final int REMOVAL = 1_024;

  /** The share of the limit, one in so many, that is freed at a time. */
  private static final int PARTS = 16;

  /** The share of the limit, one in so many, that a write buffer has. */
  private static final int BUFFERS = 64;

  private static final long MIN_BUFFER = 64L << 10;
  private static final long MAX_BUFFER = 64L << 20;

  /** What is kept free for files that are being written while others are deleted, in buffers. */
  private static final int SPARE_BUFFERS = 8;

  private static final int MAX_USED = 256;
  private static final long PERIOD_MILLIS = 1_000;
  private static final long CLOSE_SECONDS = 10;
  private static final Set<MissReason> DAMAGE =
      EnumSet.of(
          MissReason.TRUNCATED,
          MissReason.CHECKSUM,
          MissReason.DIGEST,
          MissReason.EPOCH,
          MissReason.KEY,
          MissReason.FILE_GONE,
          MissReason.IO);

  private final DiskStoreOptions options;
  private final PageDatabase database;
  private final PageCodec codec;
  private final TenantKeys keys;
  private final LongSupplier clock;
  private final long bufferBytes;
  private final int batchPages;
  private final StoreCounters counters = new StoreCounters();
  private final ThreadPoolExecutor readers;
  private final ScheduledExecutorService upkeep;

  /** Conversations up to the last page that was read; those that do not fit are left out. */
  private final LinkedBlockingQueue<PageId[]> used = new LinkedBlockingQueue<>(MAX_USED);

  private final ConcurrentLinkedQueue<ByteBuffer> buffers = new ConcurrentLinkedQueue<>();
  private final Object room = new Object();
  private final Object writing = new Object();
  private volatile long limitBytes;
  private volatile long count;

  /** The last sequence number. */
  private volatile long last;

  /** No page has a smaller sequence number. */
  private volatile long first;

  private volatile boolean closed;

  private DiskStore(
      DiskStoreOptions options,
      PageDatabase database,
      PageCodec codec,
      TenantKeys keys,
      long bufferBytes,
      LongSupplier clock) {
    this.options = options;
    this.database = database;
    this.codec = codec;
    this.keys = keys;
    this.bufferBytes = bufferBytes;
    this.clock = clock;
    this.limitBytes = options.limitBytes();
    long batchBytes = Math.min(MAX_BATCH_BYTES, 2 * bufferBytes);
    this.batchPages = (int) Math.max(1, Math.min(MAX_BATCH, batchBytes / codec.maxBytes()));
    this.readers = TransferThreads.open("disk-tier-reader", Math.max(1, options.readers() - 1));
    this.upkeep =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "disk-tier");
              thread.setDaemon(true);
              return thread;
            });
    load();
    upkeep.scheduleWithFixedDelay(
        this::keepUp, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Opens a store over what is in its directory.
   *
   * @param epoch numerics epoch of the engine; pages of others are deleted
   * @param pageBytes bytes of a page
   * @param keys that pages are encrypted under
   * @throws IOException if the directory is in use, or neither there nor to be made
   * @throws IllegalArgumentException if the limit is too small for such pages
   */
  public static DiskStore open(
      DiskStoreOptions options, String epoch, int pageBytes, TenantKeys keys) throws IOException {
    return open(options, epoch, pageBytes, keys, System::currentTimeMillis);
  }

  /**
   * As {@link #open(DiskStoreOptions, String, int, TenantKeys)}.
   *
   * @param clock milliseconds of the day
   */
  static DiskStore open(
      DiskStoreOptions options, String epoch, int pageBytes, TenantKeys keys, LongSupplier clock)
      throws IOException {
    if (options.limitBytes() < DiskStoreOptions.leastBytes(pageBytes)) {
      throw new IllegalArgumentException(
          "a disk tier of %d bytes is too small for pages of %d bytes: it needs %d"
              .formatted(options.limitBytes(), pageBytes, DiskStoreOptions.leastBytes(pageBytes)));
    }
    Path root = Path.of(options.directory());
    long buffer = Math.max(MIN_BUFFER, Math.min(MAX_BUFFER, options.limitBytes() / BUFFERS));
    PageDatabase database =
        PageDatabase.open(root.resolve("pages"), buffer, epoch + " " + pageBytes);
    PageCodec codec = new PageCodec(keys, epoch, pageBytes);
    return new DiskStore(options, database, codec, keys, buffer, clock);
  }

  /** Reads what the database says of itself. */
  private void load() {
    database.read(
        (db, index, pages) -> {
          count = DiskIndex.count(db);
          last = DiskIndex.lastSequence(db);
          List<DiskIndex.Entry> oldest = DiskIndex.oldest(db, 0, 1);
          first = oldest.isEmpty() ? last + 1 : oldest.get(0).sequence();
          return null;
        },
        null);
  }

  @Override
  public KvTier tier() {
    return KvTier.DISK;
  }

  @Override
  public int find(PageId[] chain, int from, int to) {
    return database.read((db, index, pages) -> DiskIndex.find(db, chain, from, to), 0);
  }

  /**
   * What became of pages that one thread has read.
   *
   * @param read how many there were up to the first that was not read
   * @param miss why that was not; null if all were
   */
  private record Outcome(int read, MissReason miss) {}

  @Override
  public int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    if (closed || from >= to) {
      return 0;
    }
    int threads = Math.min(options.readers(), to - from);
    int step = (to - from + threads - 1) / threads;
    List<CompletableFuture<Outcome>> others = new ArrayList<>();
    for (int at = from + step; at < to; at += step) {
      int begin = at;
      int end = Math.min(to, at + step);
      others.add(
          CompletableFuture.supplyAsync(
              () -> readSome(chain, namespaces, begin, end, into), readers));
    }
    Outcome all;
    try {
      all = readSome(chain, namespaces, from, Math.min(to, from + step), into);
    } finally {
      // buffers are the caller's again when this returns or throws
      CompletableFuture.allOf(others.toArray(CompletableFuture[]::new))
          .exceptionally(e -> null)
          .join();
    }
    for (CompletableFuture<Outcome> other : others) {
      if (all.miss() == null) {
        all = new Outcome(all.read() + other.join().read(), other.join().miss());
      }
    }
    counters.read.add(all.read());
    if (all.miss() != null) {
      missed(chain[from + all.read()], all.miss());
    }
    if (all.read() > 0 && isLarge()) {
      used.offer(Arrays.copyOf(chain, from + all.read()));
    }
    return all.read();
  }

  private Outcome readSome(
      PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    ByteBuffer buffer = take();
    try {
      for (int i = from; i < to; i++) {
        MissReason miss = readPage(chain, i, namespaces[i], buffer, into[i]);
        if (miss != null) {
          return new Outcome(i - from, miss);
        }
      }
      return new Outcome(to - from, null);
    } finally {
      buffers.add(buffer);
    }
  }

  private ByteBuffer take() {
    ByteBuffer free = buffers.poll();
    return free == null ? ByteBuffer.allocateDirect(codec.maxBytes()) : free;
  }

  /** Returns why a page was not read; null if it was. */
  private MissReason readPage(
      PageId[] chain, int i, String namespace, ByteBuffer buffer, ByteBuffer into) {
    try {
      int length = database.readPage(DiskIndex.pageKey(chain[i]), buffer);
      if (length < 0) {
        return MissReason.ABSENT;
      }
      return length > buffer.capacity()
          ? MissReason.DIGEST
          : codec.decode(buffer, chain, i, namespace, into);
    } catch (RocksDBException e) {
      return PageDatabase.reason(e);
    }
  }

  /**
   * Counts a miss, and drops a page that would be missed again, so that it can be written again.
   */
  private void missed(PageId id, MissReason reason) {
    counters.miss(reason);
    if (DAMAGE.contains(reason)) {
      synchronized (writing) {
        remove(entries(new PageId[] {id}, 1), false);
      }
    }
  }

  @Override
  public boolean copy(TierPage page, ByteBuffer into) {
    if (closed) {
      return false;
    }
    ByteBuffer buffer = take();
    try {
      return readPage(new PageId[] {page.id()}, 0, page.namespace(), buffer, into) == null;
    } finally {
      buffers.add(buffer);
    }
  }

  @Override
  public int write(TierPage[] pages, ByteBuffer[] bytes, int count) {
    int failed = 0;
    for (int from = 0; from < count && !closed; from += batchPages) {
      int to = Math.min(count, from + batchPages);
      // in the log and in a blob file, until the log is deleted
      boolean fits = makeRoom(2 * (to - from) * (codec.maxBytes() + OVERHEAD_BYTES));
      failed += fits ? write(pages, bytes, from, to) : to - from;
    }
    counters.failedWrites.add(failed);
    if (isFull(limitBytes / PARTS)) {
      wake();
    }
    return failed;
  }

  /** Returns how many pages could not be written. */
  private int write(TierPage[] pages, ByteBuffer[] bytes, int from, int to) {
    PageId[] ids = Arrays.stream(pages, 0, to).map(TierPage::id).toArray(PageId[]::new);
    ByteBuffer buffer = take();
    synchronized (writing) {
      List<DiskIndex.Entry> known =
          database.read((db, index, blobs) -> DiskIndex.get(db, ids, from, to), null);
      if (known == null) {
        return to - from;
      }
      Set<PageId> added = new HashSet<>();
      boolean written =
          database.write(
              false,
              (batch, blobs) -> {
                for (int i = from; i < to; i++) {
                  if (known.get(i - from) == null && added.add(ids[i])) {
                    put(batch, blobs, pages[i], bytes[i], last + added.size(), buffer);
                  }
                }
                DiskIndex.putCount(batch, this.count + added.size());
              });
      buffers.add(buffer);
      if (!written) {
        return added.size();
      }
      last += added.size();
      this.count += added.size();
      counters.written.add(added.size());
      return 0;
    }
  }

  private void put(
      WriteBatch batch,
      ColumnFamilyHandle blobs,
      TierPage page,
      ByteBuffer bytes,
      long sequence,
      ByteBuffer buffer)
      throws RocksDBException {
    long now = clock.getAsLong();
    codec.encode(page, bytes, now, buffer);
    DiskIndex.put(
        batch, new DiskIndex.Entry(page.id(), page.parent(), sequence, now, page.tenant()));
    batch.put(blobs, DiskIndex.pageKey(page.id()), buffer);
  }

  /** Whether so many bytes more do not fit, or would leave too little to others. */
  private boolean isFull(long bytes) {
    return database.bytes() + bytes > limitBytes - SPARE_BUFFERS * bufferBytes
        || options.minFreeBytes() > 0 && usableBytes() < bytes + options.minFreeBytes();
  }

  private long usableBytes() {
    try {
      return Files.getFileStore(Path.of(options.directory())).getUsableSpace();
    } catch (IOException e) {
      LOG.debug("The file system does not say how much is free", e);
      return Long.MAX_VALUE;
    }
  }

  private boolean makeRoom(long bytes) {
    if (!isFull(bytes)) {
      return true;
    }
    synchronized (room) {
      while (isFull(bytes)) {
        if (evict(Math.max(bytes, limitBytes / PARTS)) == 0) {
          return false;
        }
      }
      return true;
    }
  }

  /** Removes the pages that come first, about so many bytes; returns how many pages. */
  private int evict(long bytes) {
    long most = bytes / (codec.maxBytes() + OVERHEAD_BYTES) + 1;
    int evicted = 0;
    int some;
    do {
      some = removeOldest((int) Math.min(REMOVAL, most - evicted), Long.MAX_VALUE);
      evicted += some;
    } while (some > 0 && evicted < most);
    database.compact();
    return evicted;
  }

  /**
   * Removes pages in their order.
   *
   * @param before only those that were written before this time
   * @return how many
   */
  private int removeOldest(int most, long before) {
    synchronized (writing) {
      List<DiskIndex.Entry> oldest =
          database
              .read(
                  (db, index, pages) -> DiskIndex.oldest(db, first, most),
                  List.<DiskIndex.Entry>of())
              .stream()
              .takeWhile(entry -> entry.time() < before)
              .toList();
      if (oldest.isEmpty() || !remove(oldest, false)) {
        return 0;
      }
      first = oldest.get(oldest.size() - 1).sequence() + 1;
      counters.evicted.add(oldest.size());
      return oldest.size();
    }
  }

  /** Removes pages, under the monitor; false if that could not be done. */
  private boolean remove(List<DiskIndex.Entry> entries, boolean durably) {
    boolean done =
        database.write(
            durably,
            (batch, pages) -> {
              for (DiskIndex.Entry entry : entries) {
                DiskIndex.remove(batch, pages, entry);
              }
              DiskIndex.putCount(batch, count - entries.size());
            });
    count -= done ? entries.size() : 0;
    return done;
  }

  /** The entries of those of some pages that are there. */
  private List<DiskIndex.Entry> entries(PageId[] ids, int size) {
    return database
        .read((db, index, pages) -> DiskIndex.get(db, ids, 0, size), List.<DiskIndex.Entry>of())
        .stream()
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  @Override
  public void remove(PageId[] pages, int size) {
    synchronized (writing) {
      removeAll(entries(pages, size));
    }
  }

  private void removeAll(List<DiskIndex.Entry> entries) {
    for (int from = 0; from < entries.size(); from += REMOVAL) {
      remove(entries.subList(from, Math.min(entries.size(), from + REMOVAL)), true);
    }
  }

  @Override
  public void erase(PageId[] pages) {
    synchronized (writing) {
      List<DiskIndex.Entry> entries = entries(pages, pages.length);
      Set<PageId> gone = new HashSet<>();
      List<DiskIndex.Entry> erased = new ArrayList<>();
      for (int i = entries.size() - 1; i >= 0; i--) {
        PageId id = entries.get(i).id();
        if (gone.containsAll(
            database.read((db, index, blobs) -> DiskIndex.children(db, id), List.<PageId>of()))) {
          gone.add(id);
          erased.add(entries.get(i));
        }
      }
      removeAll(erased);
    }
  }

  @Override
  public void removeTenant(long tenant) {
    keys.forget(tenant);
    synchronized (writing) {
      removeAll(database.read((db, index, pages) -> DiskIndex.ofTenant(db, tenant), List.of()));
    }
  }

  @Override
  public void clear() {
    synchronized (writing) {
      database.clear();
      load();
    }
  }

  /** {@inheritDoc} Removals are forced to the device before they return. */
  @Override
  public CompletableFuture<Void> erased() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public void resize(long bytes) {
    if (bytes < DiskStoreOptions.MIN_BYTES) {
      throw new IllegalArgumentException(
          "a disk tier of "
              + bytes
              + " bytes is too small: it needs "
              + DiskStoreOptions.MIN_BYTES);
    }
    limitBytes = bytes;
    wake();
  }

  private void wake() {
    if (upkeep.isShutdown()) {
      return;
    }
    try {
      upkeep.execute(this::keepUp);
    } catch (RejectedExecutionException closing) {
      LOG.debug("A disk tier closes", closing);
    }
  }

  /** What is done on the store's own thread. */
  private void keepUp() {
    try {
      if (database.needsHealing()) {
        synchronized (writing) {
          database.heal();
          load();
        }
      }
      makeRoom(limitBytes / PARTS);
      expire();
      for (PageId[] chain = used.poll(); chain != null && !closed; chain = used.poll()) {
        keep(chain);
      }
    } catch (RuntimeException e) { // without this thread no room would be made
      LOG.warn("Maintenance of disk tier {} failed", options.directory(), e);
    }
  }

  private void expire() {
    int expired = 0;
    int some;
    do {
      some = removeOldest(REMOVAL, clock.getAsLong() - options.retentionMillis());
      expired += some;
    } while (some > 0);
    if (expired > 0) {
      database.compact();
    }
  }

  /** Whether there is so much that pages may soon have to go. */
  private boolean isLarge() {
    return database.bytes() > limitBytes / 2;
  }

  /** Writes those pages of a conversation again that would soon have to go. */
  private void keep(PageId[] chain) {
    ByteBuffer buffer = take();
    for (DiskIndex.Entry entry : entries(chain, chain.length)) {
      if (entry.sequence() < first + (last - first) / 2) {
        keep(entry, buffer);
      }
    }
    buffers.add(buffer);
  }

  private void keep(DiskIndex.Entry entry, ByteBuffer buffer) {
    synchronized (writing) {
      PageId[] id = {entry.id()};
      if (!entries(id, 1).equals(List.of(entry))) {
        return;
      }
      try {
        ByteBuffer key = DiskIndex.pageKey(entry.id());
        int length = database.readPage(key, buffer);
        if (length < 0 || length > buffer.capacity()) {
          return;
        }
        boolean moved =
            database.write(
                false,
                (batch, pages) -> {
                  DiskIndex.move(batch, entry, last + 1, clock.getAsLong());
                  batch.put(pages, key.rewind(), buffer);
                });
        last += moved ? 1 : 0;
      } catch (RocksDBException e) {
        LOG.debug("A page that is used is not written again", e);
      }
    }
  }

  @Override
  public PageStoreStats stats() {
    return counters.stats(count, database.bytes(), limitBytes);
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
    readers.shutdown();
    database.close();
  }
}
