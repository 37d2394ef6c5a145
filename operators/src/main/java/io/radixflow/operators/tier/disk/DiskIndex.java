package io.radixflow.operators.tier.disk;

import io.radixflow.operators.tier.page.PageId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.WriteBatch;

/**
 * The page index of a disk tier in the default column family, changed in the same batches as the
 * pages, so that both never disagree.
 *
 * <pre>
 * 0                    number of pages, 8 bytes
 * 1 DIGEST             sequence number, time of the last write, tenant, 8 bytes each;
 *                      the parent's digest if there is one
 * 2 SEQUENCE           digest: pages in the order in which they are evicted
 * 3 PARENT DIGEST      nothing: pages by the page before them
 * 4                    what the pages are of, see {@link PageDatabase#open}
 * </pre>
 */
final class DiskIndex {
  /** Pages that are looked up at once. */
  private static final int LOOKUP = 64;

  static final byte[] IDENTITY = {4};

  private static final byte[] COUNT = {0};
  private static final byte PAGE = 1;
  private static final byte ORDER = 2;
  private static final byte CHILD = 3;
  private static final int DIGEST_BYTES = 32;
  private static final int PARENT_AT = 3 * Long.BYTES;

  private DiskIndex() {}

  /**
   * What the index has of a page.
   *
   * @param id digest of the page
   * @param parent digest of the page before; null if there is none
   * @param sequence its position in the order of eviction
   * @param time milliseconds of the day when it was written last
   */
  record Entry(PageId id, PageId parent, long sequence, long time, long tenant) {}

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

  private static byte[] number(long value) {
    return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
  }

  /** The key of a page in the column family of pages, in memory that native code can read. */
  static ByteBuffer pageKey(PageId id) {
    ByteBuffer key = ByteBuffer.allocateDirect(DIGEST_BYTES);
    return key.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d()).flip();
  }

  private static byte[] digest(PageId id) {
    byte[] digest = new byte[DIGEST_BYTES];
    id.copyTo(digest, 0);
    return digest;
  }

  /** The number of pages. */
  static long count(RocksDB db) throws RocksDBException {
    byte[] value = db.get(COUNT);
    return value == null ? 0 : ByteBuffer.wrap(value).getLong();
  }

  static void putCount(WriteBatch batch, long count) throws RocksDBException {
    batch.put(COUNT, number(count));
  }

  /** The entries of pages {@code from .. to-1}; null for each that is not there. */
  static List<Entry> get(RocksDB db, PageId[] ids, int from, int to) throws RocksDBException {
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

  /** How many of pages {@code from .. to-1} are there, up to the first that is not. */
  static int find(RocksDB db, PageId[] ids, int from, int to) throws RocksDBException {
    for (int at = from; at < to; at += LOOKUP) {
      int found = get(db, ids, at, Math.min(to, at + LOOKUP)).indexOf(null);
      if (found >= 0) {
        return at + found - from;
      }
    }
    return Math.max(0, to - from);
  }

  private static Entry entry(PageId id, byte[] value) {
    ByteBuffer in = ByteBuffer.wrap(value);
    PageId parent = value.length > PARENT_AT ? PageId.of(value, PARENT_AT) : null;
    return new Entry(id, parent, in.getLong(), in.getLong(), in.getLong());
  }

  static void put(WriteBatch batch, Entry entry) throws RocksDBException {
    byte[] value = new byte[PARENT_AT + (entry.parent() == null ? 0 : DIGEST_BYTES)];
    ByteBuffer.wrap(value).putLong(entry.sequence()).putLong(entry.time()).putLong(entry.tenant());
    if (entry.parent() != null) {
      entry.parent().copyTo(value, PARENT_AT);
      batch.put(child(entry.parent(), entry.id()), new byte[0]);
    }
    batch.put(key(PAGE, entry.id()), value);
    batch.put(order(entry.sequence()), digest(entry.id()));
  }

  /** Moves a page to another position in the order. */
  static void move(WriteBatch batch, Entry from, long sequence, long time) throws RocksDBException {
    batch.delete(order(from.sequence()));
    put(batch, new Entry(from.id(), from.parent(), sequence, time, from.tenant()));
  }

  /** Removes a page, and its bytes from the column family of pages. */
  static void remove(WriteBatch batch, ColumnFamilyHandle pages, Entry entry)
      throws RocksDBException {
    batch.delete(key(PAGE, entry.id()));
    batch.delete(order(entry.sequence()));
    if (entry.parent() != null) {
      batch.delete(child(entry.parent(), entry.id()));
    }
    batch.delete(pages, digest(entry.id()));
  }

  /** Calls back with keys and values. */
  @FunctionalInterface
  private interface Visitor {
    /** Returns whether to go on. */
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
   * The entries that come first in the order.
   *
   * @param sequence none before this one is looked for
   */
  static List<Entry> oldest(RocksDB db, long sequence, int count) throws RocksDBException {
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
    entries.removeIf(entry -> entry == null);
    return entries;
  }

  /** The last sequence number; 0 without pages. */
  static long lastSequence(RocksDB db) throws RocksDBException {
    try (RocksIterator iterator = db.newIterator()) {
      iterator.seekForPrev(order(Long.MAX_VALUE));
      iterator.status();
      boolean found = iterator.isValid() && iterator.key()[0] == ORDER;
      return found ? ByteBuffer.wrap(iterator.key(), 1, Long.BYTES).getLong() : 0;
    }
  }

  /** The pages that have this one as parent. */
  static List<PageId> children(RocksDB db, PageId parent) throws RocksDBException {
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

  /** The entries of a tenant. */
  static List<Entry> ofTenant(RocksDB db, long tenant) throws RocksDBException {
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
}
