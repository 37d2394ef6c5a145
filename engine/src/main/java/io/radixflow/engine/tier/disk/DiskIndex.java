package io.radixflow.engine.tier.disk;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntFunction;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page index of a disk tier in the default column family of its database. The index changes in
 * the same batches as the pages, so the two never disagree. Only this class writes it. Any thread.
 *
 * <pre>
 * 0                    number of pages, 8 bytes
 * 1 DIGEST             sequence number, time of the last write, tenant, 8 bytes each;
 *                      the parent's digest if there is one
 * 2 SEQUENCE           digest: pages in the order in which they are evicted
 * 3 PARENT DIGEST      nothing: pages by the page before them
 * 4                    the kind of the pages, see {@link PageDatabase#open}
 * </pre>
 */
final class DiskIndex implements AutoCloseable {
  static final byte[] IDENTITY = {4};

  private static final Logger LOG = LoggerFactory.getLogger(DiskIndex.class);

  /** Pages that are looked up at once. */
  private static final int LOOKUP = 64;

  /** Pages that are removed at once. */
  private static final int REMOVAL = 1_024;

  private static final byte[] COUNT = {0};
  private static final byte PAGE = 1;
  private static final byte ORDER = 2;
  private static final byte CHILD = 3;
  private static final int DIGEST_BYTES = 32;
  private static final int PARENT_AT = 3 * Long.BYTES;

  private final PageDatabase database;
  private volatile long count;

  private long last;

  /** A lower bound of all sequence numbers. */
  private long first;

  /**
   * The index's entry of a page.
   *
   * @param id digest of the page
   * @param parent digest of the page before; null if there is none
   * @param sequence its position in the order of eviction
   * @param time last write, milliseconds since the epoch
   */
  private record Entry(PageId id, PageId parent, long sequence, long time, long tenant) {}

  DiskIndex(PageDatabase database) {
    this.database = database;
    load();
  }

  /** Reads the counters of the database. */
  private void load() {
    database.read(
        db -> {
          byte[] pages = db.get(COUNT);
          count = pages == null ? 0 : ByteBuffer.wrap(pages).getLong();
          last = lastSequence(db);
          List<Entry> oldest = oldest(db, 0, 1);
          first = oldest.isEmpty() ? last + 1 : oldest.get(0).sequence();
          return null;
        },
        null);
  }

  long pages() {
    return count;
  }

  long bytes() {
    return database.bytes();
  }

  /** Deletes the files whose pages were all removed. */
  void compact() {
    database.compact();
  }

  /**
   * Returns whether all removed pages are gone: no read or write has failed since the database was
   * opened.
   */
  boolean isHealthy() {
    return database.isHealthy();
  }

  /** Opens the database again if it fails. */
  synchronized void heal() {
    if (database.needsHealing()) {
      database.heal();
      load();
    }
  }

  /** Deletes all pages. */
  synchronized void clear() {
    database.clear();
    load();
  }

  private static byte[] key(byte kind, PageId id) {
    byte[] key = new byte[1 + DIGEST_BYTES];
    key[0] = kind;
    id.copyTo(key, 1);
    return key;
  }

  private static byte[] order(long sequence) {
    return ByteBuffer.allocate(1 + Long.BYTES).put(ORDER).putLong(sequence).array();
  }

  private static byte[] child(PageId parent, PageId id) {
    byte[] key = new byte[1 + 2 * DIGEST_BYTES];
    key[0] = CHILD;
    parent.copyTo(key, 1);
    id.copyTo(key, 1 + DIGEST_BYTES);
    return key;
  }

  /**
   * Returns the key of a page in the column family of pages, in memory that native code can read.
   */
  static ByteBuffer pageKey(PageId id) {
    ByteBuffer key = ByteBuffer.allocateDirect(DIGEST_BYTES);
    return key.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d()).flip();
  }

  private static byte[] digest(PageId id) {
    byte[] digest = new byte[DIGEST_BYTES];
    id.copyTo(digest, 0);
    return digest;
  }

  /** Returns the entries of pages {@code from .. to-1}; null for each that is not there. */
  private static List<Entry> get(RocksDB db, PageId[] ids, int from, int to)
      throws RocksDBException {
    List<Entry> entries = new ArrayList<>(to - from);
    for (int at = from; at < to; at += LOOKUP) {
      int end = Math.min(to, at + LOOKUP);
      List<byte[]> keys = new ArrayList<>(end - at);
      for (int i = at; i < end; i++) {
        keys.add(key(PAGE, ids[i]));
      }
      List<byte[]> values = db.multiGetAsList(keys);
      for (int i = 0; i < values.size(); i++) {
        entries.add(values.get(i) == null ? null : entry(ids[at + i], values.get(i)));
      }
    }
    return entries;
  }

  /** Returns the entries of those pages that exist; none if they cannot be read. */
  private List<Entry> entries(PageId[] ids, int size) {
    return database.read(db -> get(db, ids, 0, size), List.<Entry>of()).stream()
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  private static Entry entry(PageId id, byte[] value) {
    ByteBuffer in = ByteBuffer.wrap(value);
    PageId parent = value.length > PARENT_AT ? PageId.of(value, PARENT_AT) : null;
    return new Entry(id, parent, in.getLong(), in.getLong(), in.getLong());
  }

  /** Returns how many of pages {@code from .. to-1} are there, up to the first that is not. */
  int find(PageId[] ids, int from, int to) {
    for (int at = from; at < to; at += LOOKUP) {
      int begin = at;
      int end = Math.min(to, at + LOOKUP);
      int found = database.read(db -> get(db, ids, begin, end).indexOf(null), 0);
      if (found >= 0) {
        return at + found - from;
      }
    }
    return Math.max(0, to - from);
  }

  /**
   * Adds the pages that are not there, all of them or none.
   *
   * @param now milliseconds since the epoch
   * @param encoded returns the bytes of the page at an index, in a direct buffer that is read
   *     before the next page is requested
   * @return how many were added; -1 if they could not be written
   */
  synchronized int add(List<TierPage> pages, long now, IntFunction<ByteBuffer> encoded) {
    PageId[] ids = pages.stream().map(TierPage::id).toArray(PageId[]::new);
    List<Entry> known = database.read(db -> get(db, ids, 0, ids.length), null);
    if (known == null) {
      return -1;
    }
    Set<PageId> added = new HashSet<>();
    boolean written =
        database.write(
            false,
            (batch, blobs) -> {
              for (int i = 0; i < ids.length; i++) {
                if (known.get(i) == null && added.add(ids[i])) {
                  TierPage page = pages.get(i);
                  long sequence = last + added.size();
                  put(batch, new Entry(ids[i], page.parent(), sequence, now, page.tenant()));
                  batch.put(blobs, pageKey(ids[i]), encoded.apply(i));
                }
              }
              putCount(batch, count + added.size());
            });
    if (!written) {
      return -1;
    }
    last += added.size();
    count += added.size();
    return added.size();
  }

  private static void put(WriteBatch batch, Entry entry) throws RocksDBException {
    byte[] value = new byte[PARENT_AT + (entry.parent() == null ? 0 : DIGEST_BYTES)];
    ByteBuffer.wrap(value).putLong(entry.sequence()).putLong(entry.time()).putLong(entry.tenant());
    if (entry.parent() != null) {
      entry.parent().copyTo(value, PARENT_AT);
      batch.put(child(entry.parent(), entry.id()), new byte[0]);
    }
    batch.put(key(PAGE, entry.id()), value);
    batch.put(order(entry.sequence()), digest(entry.id()));
  }

  private static void putCount(WriteBatch batch, long count) throws RocksDBException {
    batch.put(COUNT, ByteBuffer.allocate(Long.BYTES).putLong(count).array());
  }

  /**
   * Rewrites the given pages that are in the older half, so that they are evicted last.
   *
   * @param now milliseconds since the epoch
   * @param buffer a direct buffer with room for a page
   */
  void keep(PageId[] ids, long now, ByteBuffer buffer) {
    for (PageId id : ids) {
      keep(id, now, buffer);
    }
  }

  private synchronized void keep(PageId id, long now, ByteBuffer buffer) {
    for (Entry entry : entries(new PageId[] {id}, 1)) {
      ByteBuffer key = pageKey(id);
      if (entry.sequence() < first + (last - first) / 2 && hasPage(key, buffer)) {
        boolean moved =
            database.write(
                false,
                (batch, pages) -> {
                  batch.delete(order(entry.sequence()));
                  put(batch, new Entry(id, entry.parent(), last + 1, now, entry.tenant()));
                  batch.put(pages, key.rewind(), buffer);
                });
        last += moved ? 1 : 0;
      }
    }
  }

  private boolean hasPage(ByteBuffer key, ByteBuffer buffer) {
    try {
      int length = database.readPage(key, buffer);
      return length >= 0 && length <= buffer.capacity();
    } catch (RocksDBException e) {
      LOG.debug("A page of the disk tier cannot be read and is not kept", e);
      return false;
    }
  }

  /** Removes a page that cannot be read, if it is there. */
  synchronized void drop(PageId id) {
    removeAll(entries(new PageId[] {id}, 1), false);
  }

  /** Durably removes the stored pages among the first {@code size} ids, and their window parts. */
  synchronized void remove(PageId[] ids, int size) {
    PageId[] all = Arrays.copyOf(ids, 2 * size);
    for (int i = 0; i < size; i++) {
      all[size + i] = ids[i].window();
    }
    removeAll(entries(all, all.length), true);
  }

  /** Durably removes the pages of a tenant. */
  synchronized void removeTenant(long tenant) {
    removeAll(database.read(db -> ofTenant(db, tenant), List.of()), true);
  }

  /**
   * Durably removes pages and their window parts. A page stays if a page that follows it stays.
   *
   * @param ids the pages, each after its parent
   */
  synchronized void erase(PageId[] ids) {
    Set<PageId> gone = new HashSet<>();
    for (int i = ids.length - 1; i >= 0; i--) {
      PageId id = ids[i];
      List<PageId> after = new ArrayList<>(database.read(db -> children(db, id), List.of()));
      after.remove(id.window());
      if (gone.containsAll(after)) {
        gone.add(id);
      }
    }
    remove(gone.toArray(PageId[]::new), gone.size());
  }

  /**
   * Removes the pages that are first in the order of eviction.
   *
   * @param before removes only pages written before this time
   * @return the number of removed pages
   */
  int evict(long most, long before) {
    int evicted = 0;
    int some;
    do {
      some = evictSome(most - evicted, before);
      evicted += some;
    } while (some > 0 && evicted < most);
    return evicted;
  }

  private synchronized int evictSome(long most, long before) {
    int some = (int) Math.min(REMOVAL, most);
    List<Entry> oldest =
        database.read(db -> oldest(db, first, some), List.<Entry>of()).stream()
            .takeWhile(entry -> entry.time() < before)
            .toList();
    if (oldest.isEmpty() || !removeAll(oldest, false)) {
      return 0;
    }
    first = oldest.get(oldest.size() - 1).sequence() + 1;
    return oldest.size();
  }

  /** Returns whether all were removed. */
  private boolean removeAll(List<Entry> entries, boolean durably) {
    boolean done = true;
    for (int from = 0; from < entries.size(); from += REMOVAL) {
      done &= removeSome(entries.subList(from, Math.min(entries.size(), from + REMOVAL)), durably);
    }
    return done;
  }

  private boolean removeSome(List<Entry> entries, boolean durably) {
    boolean done =
        database.write(
            durably,
            (batch, pages) -> {
              for (Entry entry : entries) {
                remove(batch, pages, entry);
              }
              putCount(batch, count - entries.size());
            });
    count -= done ? entries.size() : 0;
    return done;
  }

  private static void remove(WriteBatch batch, ColumnFamilyHandle pages, Entry entry)
      throws RocksDBException {
    batch.delete(key(PAGE, entry.id()));
    batch.delete(order(entry.sequence()));
    if (entry.parent() != null) {
      batch.delete(child(entry.parent(), entry.id()));
    }
    batch.delete(pages, digest(entry.id()));
  }

  /** Receives the keys and values of a scan. */
  @FunctionalInterface
  private interface Visitor {
    /** Returns whether to continue the scan. */
    boolean visit(byte[] key, byte[] value);
  }

  private static void scan(RocksDB db, byte[] from, byte[] to, Visitor visitor)
      throws RocksDBException {
    try (Slice end = new Slice(to);
        ReadOptions bounded = new ReadOptions().setIterateUpperBound(end).setFillCache(false);
        RocksIterator iterator = db.newIterator(bounded)) {
      iterator.seek(from);
      while (iterator.isValid() && visitor.visit(iterator.key(), iterator.value())) {
        iterator.next();
      }
      iterator.status();
    }
  }

  /**
   * Returns the entries that are first in the order of eviction.
   *
   * @param sequence where the search begins
   */
  private static List<Entry> oldest(RocksDB db, long sequence, int count) throws RocksDBException {
    List<PageId> ids = new ArrayList<>();
    scan(
        db,
        order(sequence),
        new byte[] {ORDER + 1},
        (key, value) -> {
          ids.add(PageId.of(value, 0));
          return ids.size() < count;
        });
    List<Entry> entries = new ArrayList<>(get(db, ids.toArray(PageId[]::new), 0, ids.size()));
    entries.removeIf(Objects::isNull);
    return entries;
  }

  /** Returns the last sequence number; 0 without pages. */
  private static long lastSequence(RocksDB db) throws RocksDBException {
    try (RocksIterator iterator = db.newIterator()) {
      iterator.seekForPrev(order(Long.MAX_VALUE));
      iterator.status();
      boolean found = iterator.isValid() && iterator.key()[0] == ORDER;
      return found ? ByteBuffer.wrap(iterator.key(), 1, Long.BYTES).getLong() : 0;
    }
  }

  /** Returns the pages whose parent is {@code parent}. */
  private static List<PageId> children(RocksDB db, PageId parent) throws RocksDBException {
    byte[] from = key(CHILD, parent);
    byte[] to = Arrays.copyOf(from, 1 + 2 * DIGEST_BYTES + 1);
    Arrays.fill(to, 1 + DIGEST_BYTES, to.length, (byte) -1);
    List<PageId> children = new ArrayList<>();
    scan(
        db,
        from,
        to,
        (key, value) -> {
          children.add(PageId.of(key, 1 + DIGEST_BYTES));
          return true;
        });
    return children;
  }

  /** Returns the entries of a tenant. */
  private static List<Entry> ofTenant(RocksDB db, long tenant) throws RocksDBException {
    List<Entry> found = new ArrayList<>();
    scan(
        db,
        new byte[] {PAGE},
        new byte[] {PAGE + 1},
        (key, value) -> {
          Entry entry = entry(PageId.of(key, 1), value);
          if (entry.tenant() == tenant) {
            found.add(entry);
          }
          return true;
        });
    return found;
  }

  /** Closes the database. */
  @Override
  public void close() {
    database.close();
  }
}
