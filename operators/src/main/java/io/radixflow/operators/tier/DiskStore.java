package io.radixflow.operators.tier;

import io.radixflow.operators.record.KvTier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pages on a local disk: segment files to which pages are appended (format: {@link SegmentScan}),
 * and a directory that says where each lies.
 *
 * <p>What must hold: each page in a file is in the directory, or is being destroyed. The directory
 * is told of a page after its bytes were written, and forgets one after its header was made a
 * hole's. So a process may die at any moment, and the directory may be lost or of another time:
 * {@link Reconciliation} makes both agree, and what is half written is cut off. Nothing is forced
 * to the device for a write's sake: after a power failure pages that were lost are misses.
 *
 * <p>The store's own thread destroys removed pages ({@link Erasure}), makes room ahead of need
 * ({@link Reclaim}) and forces full segments to the device. Of the pages of a read, the one at
 * which it stopped is counted as a miss, not those behind it.
 *
 * <p>Locks, in the order in which they are taken: the monitor of {@code Reclaim}, that of {@code
 * SegmentLog}. Reads take none.
 */
public final class DiskStore implements PageStore {
  private static final Logger LOG = LoggerFactory.getLogger(DiskStore.class);
  private static final int MAX_BATCH = 256;
  private static final long MAX_BATCH_BYTES = 8L << 20;

  private final SegmentFiles files;
  private final PageIndex index;
  private final SegmentLog log;
  private final TenantKeys keys;
  private final PageVerifier verifier;
  private final DiskStoreOptions options;
  private final StoreCounters counters = new StoreCounters();
  private final Erasure erasure;
  private final Reclaim reclaim;
  private final SegmentRepair repair;

  /** Pages that are written at once. */
  private final int batchPages;

  /** Those of a batch, encrypted, under the log's monitor; null if they are not to be. */
  private final ByteBuffer bodies;

  private final ChainReader chains;

  /** Null only for a moment to its own thread, which needs not be woken. */
  private volatile StoreUpkeep upkeep;

  private volatile boolean closed;

  DiskStore(
      DiskStoreOptions options,
      SegmentFiles files,
      PageDirectory directory,
      TenantKeys keys,
      String epoch,
      int pageBytes,
      LongSupplier clock)
      throws IOException {
    this.verifier = new PageVerifier(keys, pageBytes);
    if (verifier.recordBytes() > options.segmentBytes() - SegmentHeader.BYTES) {
      throw new IllegalArgumentException(
          "a page of "
              + pageBytes
              + " bytes does not fit into a segment of "
              + options.segmentBytes());
    }
    long batch = Math.min(MAX_BATCH_BYTES, options.segmentBytes());
    this.batchPages = (int) Math.min(MAX_BATCH, Math.max(1, batch / verifier.recordBytes()));
    this.bodies = verifier.space(batchPages, true);
    this.options = options;
    this.files = files;
    this.keys = keys;
    this.index = new PageIndex(directory);
    this.erasure = new Erasure();
    this.log =
        new SegmentLog(
            files, epoch, pageBytes, options.segmentBytes(), clock, erasure, keys != null);
    this.repair = new SegmentRepair(log, index, erasure, this::wake);
    this.reclaim =
        new Reclaim(
            log,
            index,
            repair,
            counters,
            options,
            () -> files.usableBytes() - options.minFreeBytes());
    new Reconciliation(files, log, index, erasure, keys != null).run(epoch, pageBytes);
    PageReader pages = new PageReader(log, verifier, options.segmentBytes());
    this.chains = new ChainReader(pages, log, index, counters, repair, options.readers());
    this.upkeep = new StoreUpkeep("disk-tier", erasure, this::upkeep);
  }

  private void wake() {
    StoreUpkeep running = upkeep;
    if (running != null) {
      running.wake();
    }
  }

  /**
   * Opens a store over what is in its directory.
   *
   * @param epoch numerics epoch of the engine; pages of others are deleted
   * @param pageBytes bytes of a page
   * @param directory says where pages lie; the store closes it
   * @throws IOException if the directory is in use, or neither there nor to be made, or if the page
   *     directory cannot be written
   * @throws IllegalArgumentException if a page does not fit into a segment, or the key file has no
   *     key
   */
  public static DiskStore open(
      DiskStoreOptions options, String epoch, int pageBytes, PageDirectory directory)
      throws IOException {
    Path root = Path.of(options.directory());
    TenantKeys keys =
        options.keyFile() == null
            ? null
            : TenantKeys.open(
                Path.of(options.keyFile()),
                new LocalKeyFiles(root.resolve("keys")),
                epoch,
                TenantKeys.CLOCK);
    SegmentFiles files = LocalFiles.open(root);
    try {
      return new DiskStore(
          options, files, directory, keys, epoch, pageBytes, System::currentTimeMillis);
    } catch (UncheckedIOException e) {
      files.close();
      throw e.getCause();
    } catch (IOException | RuntimeException e) {
      files.close();
      throw e;
    }
  }

  @Override
  public KvTier tier() {
    return KvTier.DISK;
  }

  @Override
  public int find(PageId[] chain, int from, int to) {
    return closed ? 0 : index.directory().get(chain, from, to, new PageDirectory.Entry[to]);
  }

  @Override
  public int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    return closed ? 0 : chains.read(chain, namespaces, from, to, into);
  }

  @Override
  public boolean copy(TierPage page, ByteBuffer into) {
    return !closed && chains.copy(page, into);
  }

  @Override
  public int write(TierPage[] pages, ByteBuffer[] bytes, int count) {
    int failed = 0;
    for (int from = 0; from < count && !closed; from += batchPages) {
      int to = Math.min(count, from + batchPages);
      Map<TierPage, ByteBuffer> missing = missing(pages, bytes, from, to);
      if (!missing.isEmpty()) {
        failed += write(missing);
      }
    }
    if (log.bytes() + 2 * options.segmentBytes() > reclaim.limitBytes()) {
      upkeep.wake();
    }
    return failed;
  }

  private Map<TierPage, ByteBuffer> missing(
      TierPage[] pages, ByteBuffer[] bytes, int from, int to) {
    Map<TierPage, ByteBuffer> missing = new LinkedHashMap<>();
    for (int i = from; i < to; i++) {
      if (index.get(pages[i].id()) == null) {
        missing.put(pages[i], bytes[i]);
      }
    }
    return missing;
  }

  /** Returns how many could not be written. */
  private int write(Map<TierPage, ByteBuffer> missing) {
    // pages that these follow do not make room for them
    missing.keySet().forEach(index.marks()::expected);
    long need = (long) missing.size() * verifier.recordBytes() + SegmentHeader.BYTES;
    Set<TierPage> left = new HashSet<>(missing.keySet());
    int present = 0;
    if (reclaim.makeRoom(need)) {
      synchronized (log) {
        present = append(missing, left);
      }
    }
    left.forEach(index.marks()::unexpected);
    counters.written.add(missing.size() - left.size());
    counters.failedWrites.add(left.size() - present);
    return left.size() - present;
  }

  /**
   * Appends pages.
   *
   * @param left loses those that were written
   * @return how many another thread has written meanwhile
   */
  private int append(Map<TierPage, ByteBuffer> missing, Set<TierPage> left) {
    List<PageDirectory.Entry> placed = new ArrayList<>();
    int present = 0;
    try {
      List<SegmentLog.Appended> records = new ArrayList<>();
      if (bodies != null) {
        bodies.clear();
      }
      for (Map.Entry<TierPage, ByteBuffer> page : missing.entrySet()) {
        if (index.get(page.getKey().id()) == null) {
          addRecord(page.getKey(), page.getValue(), records);
        } else {
          present++;
        }
      }
      log.append(records, placed);
    } catch (IOException | RuntimeException e) {
      LOG.warn("Pages were not stored on disk: {}", e.toString());
    } finally {
      if (!index.place(placed, log.of(placed))) {
        placed.forEach(repair::destroy);
        placed.clear();
      }
    }
    placed.forEach(entry -> left.remove(entry.page()));
    return present;
  }

  /** Nothing if the tenant has no key, which is no reason to lose others' pages. */
  private void addRecord(TierPage page, ByteBuffer bytes, List<SegmentLog.Appended> to) {
    try {
      to.add(verifier.record(page, bytes, bodies));
    } catch (IOException e) {
      LOG.debug("A page is not stored", e);
    }
  }

  @Override
  public void remove(PageId[] pages, int count) {
    List<PageDirectory.Entry> entries = new ArrayList<>();
    synchronized (log) {
      for (int i = 0; i < count; i++) {
        PageDirectory.Entry entry = index.get(pages[i]);
        if (entry != null) {
          entries.add(entry);
        }
      }
      forget(entries);
    }
    upkeep.wake();
  }

  @Override
  public void erase(PageId[] pages) {
    List<PageDirectory.Entry> entries = new ArrayList<>();
    Map<PageId, Integer> orphaned = new HashMap<>();
    synchronized (log) {
      for (int i = pages.length - 1; i >= 0; i--) {
        PageDirectory.Entry entry = index.get(pages[i]);
        int left = index.marks().children(pages[i]) - orphaned.getOrDefault(pages[i], 0);
        if (entry != null && left <= 0) {
          entries.add(entry);
          if (entry.page().parent() != null) {
            orphaned.merge(entry.page().parent(), 1, Integer::sum);
          }
        }
      }
      forget(entries);
    }
    upkeep.wake();
  }

  private void forget(List<PageDirectory.Entry> entries) {
    entries.forEach(repair::destroy);
    index.drop(entries.stream().map(PageDirectory.Entry::page).toList());
  }

  @Override
  public void removeTenant(long tenant) {
    if (keys != null) {
      forgetKey(tenant);
    }
    synchronized (reclaim) {
      List<PageDirectory.Entry> entries = new ArrayList<>();
      synchronized (log) {
        index
            .directory()
            .forEach(
                entry -> {
                  if (entry.page().tenant() == tenant) {
                    entries.add(entry);
                  }
                });
        forget(entries);
      }
    }
    upkeep.wake();
  }

  private void forgetKey(long tenant) {
    try {
      keys.forget(tenant);
    } catch (IOException e) {
      erasure.add(() -> keys.forget(tenant));
    }
  }

  @Override
  public void clear() {
    synchronized (reclaim) {
      synchronized (log) {
        index.clear();
        for (Segment segment : new ArrayList<>(log.segments())) {
          log.delete(segment);
        }
      }
    }
    upkeep.wake();
  }

  @Override
  public CompletableFuture<Void> erased() {
    return upkeep.erased();
  }

  /** {@inheritDoc} At least four segments. */
  @Override
  public void resize(long limitBytes) {
    reclaim.limit(
        options.withLimitBytes(limitBytes).withSegmentBytes(options.segmentBytes()).limitBytes());
    upkeep.wake();
  }

  private void upkeep() {
    synchronized (reclaim) {
      erasure.run();
    }
    settle();
    log.forceSealed();
    reclaim.compact();
    reclaim.makeRoomAhead(options.segmentBytes());
  }

  /** Tells the directory of segments that hold nothing but its pages again. */
  private void settle() {
    synchronized (log) {
      if (erasure.isEmpty()) {
        index.cover(log.settle());
      }
    }
  }

  @Override
  public PageStoreStats stats() {
    return counters.stats(index.directory().size(), log.bytes(), reclaim.limitBytes());
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    upkeep.close();
    chains.close();
    synchronized (log) {
      log.segments().forEach(Segment::retire);
    }
    index.directory().close();
    try {
      files.close();
    } catch (IOException e) {
      LOG.warn("A disk tier did not close", e);
    }
  }
}
