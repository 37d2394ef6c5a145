package io.radixflow.operators.tier;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.rocksdb.Checkpoint;
import org.rocksdb.FlushOptions;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory in a RocksDB, so that a restarted process knows at once where pages lie.
 *
 * <p>Nothing is logged ahead: what was not flushed dies with the process, a batch as a whole, and
 * is found again by scanning segments from the end of their {@link Coverage} on. A page that cannot
 * be looked up is missing; one that cannot be entered is not entered; what cannot be removed throws
 * {@link UncheckedIOException}.
 *
 * <p>Writers wait for each other; readers for nobody. A closed directory is empty. Format: {@link
 * DirectoryFormat}; memory: {@link RocksDbOptions}.
 */
public final class RocksDbDirectory implements PageDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(RocksDbDirectory.class);

  /** Pages looked up at once. */
  private static final int LOOKUP = 64;

  /** Pages removed at once when many go. */
  private static final int REMOVAL = 1_024;

  private final RocksDbOptions options;
  private final RocksDB db;
  private final WriteOptions unlogged = new WriteOptions().setDisableWAL(true);

  /** Held for writing by {@link #close} only: native memory must not go while it is read. */
  private final ReadWriteLock life = new ReentrantReadWriteLock();

  private final Object writing = new Object();
  private final AtomicLong count = new AtomicLong();
  private volatile boolean failing;
  private boolean closed;

  private RocksDbDirectory(RocksDbOptions options, RocksDB db) throws RocksDBException {
    this.options = options;
    this.db = db;
    count.set(DirectoryFormat.number(db.get(DirectoryFormat.COUNT)));
  }

  /**
   * Opens the directory at a path, a new one if there is none.
   *
   * @throws DirectoryInUseException if another directory, here or in another process, has it open
   * @throws IOException if what is there is damaged
   */
  public static RocksDbDirectory open(Path path) throws IOException {
    RocksDbLibrary.load();
    Files.createDirectories(path);
    RocksDbOptions options = new RocksDbOptions();
    RocksDB db = null;
    try {
      db = RocksDB.open(options.database(), path.toString());
      return new RocksDbDirectory(options, db);
    } catch (RocksDBException e) {
      if (db != null) {
        db.close();
      }
      options.close();
      if (isLocked(e)) {
        throw new DirectoryInUseException("the page directory at " + path + " is in use", e);
      }
      throw new IOException("the page directory at " + path + " does not open", e);
    }
  }

  /** RocksDB tells so in words alone: "While lock file: …/LOCK: …", "lock hold by …: …/LOCK: …". */
  private static boolean isLocked(RocksDBException e) {
    return e.getStatus() != null
        && e.getStatus().getCode() == Status.Code.IOError
        && e.getMessage().contains("/LOCK: ");
  }

  @Override
  public Entry get(PageId id) {
    return reading(
        () -> {
          byte[] key = DirectoryFormat.key(id);
          byte[] value = db.get(key);
          return value == null ? null : DirectoryFormat.decode(key, value);
        },
        null);
  }

  @Override
  public int get(PageId[] chain, int from, int to, Entry[] into) {
    int at = from;
    while (at < to) {
      int end = Math.min(to, at + LOOKUP);
      int found = getSome(chain, at, end, into);
      if (found < end - at) {
        return at + found - from;
      }
      at = end;
    }
    return to - from;
  }

  private int getSome(PageId[] chain, int from, int to, Entry[] into) {
    return reading(
        () -> {
          List<byte[]> keys = new ArrayList<>(to - from);
          for (int i = from; i < to; i++) {
            keys.add(DirectoryFormat.key(chain[i]));
          }
          List<byte[]> values = db.multiGetAsList(keys);
          int found = 0;
          while (found < keys.size() && values.get(found) != null) {
            Entry entry = DirectoryFormat.decode(keys.get(found), values.get(found));
            if (entry == null) {
              break;
            }
            into[from + found++] = entry;
          }
          return found;
        },
        0);
  }

  @Override
  public boolean put(List<Entry> entries, List<Coverage> coverages) {
    try {
      if (!entries.isEmpty() || !coverages.isEmpty()) {
        writing(batch -> put(batch, entries, coverages));
        failing = false;
      }
      return true;
    } catch (UncheckedIOException e) {
      if (!failing) {
        LOG.warn("Pages are not entered in the page directory, and so not kept: {}", reason(e));
      }
      failing = true;
      return false;
    }
  }

  private long put(WriteBatch batch, List<Entry> entries, List<Coverage> coverages)
      throws RocksDBException {
    Set<PageId> added = new HashSet<>();
    for (Entry entry : entries) {
      byte[] key = DirectoryFormat.key(entry.page().id());
      if (!has(key)) {
        added.add(entry.page().id());
      }
      batch.put(key, DirectoryFormat.encode(entry));
    }
    for (Coverage coverage : coverages) {
      batch.put(DirectoryFormat.coverage(coverage.segment()), DirectoryFormat.encode(coverage));
    }
    return added.size();
  }

  @Override
  public void remove(List<PageId> pages) {
    for (int from = 0; from < pages.size(); from += REMOVAL) {
      List<PageId> some = pages.subList(from, Math.min(pages.size(), from + REMOVAL));
      writing(batch -> -remove(batch, some));
    }
  }

  private long remove(WriteBatch batch, List<PageId> pages) throws RocksDBException {
    Set<PageId> removed = new HashSet<>();
    for (PageId page : pages) {
      byte[] key = DirectoryFormat.key(page);
      if (has(key) && removed.add(page)) {
        batch.delete(key);
      }
    }
    return removed.size();
  }

  private boolean has(byte[] key) throws RocksDBException {
    return db.get(key) != null;
  }

  @Override
  public void forEach(Consumer<Entry> visitor) {
    scan(
        DirectoryFormat.COUNT,
        DirectoryFormat.AFTER_ALL,
        (key, value) -> {
          Entry entry = DirectoryFormat.decode(key, value);
          if (entry != null) {
            visitor.accept(entry);
          }
        });
  }

  @Override
  public Coverage coverage(long segment) {
    return reading(
        () -> DirectoryFormat.coverage(segment, db.get(DirectoryFormat.coverage(segment))), null);
  }

  @Override
  public void uncover(long segment) {
    writing(
        batch -> {
          batch.delete(DirectoryFormat.coverage(segment));
          return 0;
        });
  }

  @Override
  public void uncoverOthers(Set<Long> segments) {
    List<byte[]> others = new ArrayList<>();
    scan(
        DirectoryFormat.SEGMENTS,
        DirectoryFormat.AFTER_SEGMENTS,
        (key, value) -> {
          long segment = DirectoryFormat.segmentOf(key);
          if (segment >= 0 && !segments.contains(segment)) {
            others.add(key);
          }
        });
    if (!others.isEmpty()) {
      writing(
          batch -> {
            for (byte[] key : others) {
              batch.delete(key);
            }
            return 0;
          });
    }
  }

  private void scan(byte[] from, byte[] to, BiConsumer<byte[], byte[]> visitor) {
    reading(
        () -> {
          try (Slice end = new Slice(to);
              ReadOptions bounded = new ReadOptions().setIterateUpperBound(end);
              RocksIterator iterator = db.newIterator(bounded)) {
            for (iterator.seek(from); iterator.isValid(); iterator.next()) {
              visitor.accept(iterator.key(), iterator.value());
            }
            iterator.status();
          }
          return null;
        },
        null);
  }

  @Override
  public long size() {
    return count.get();
  }

  @Override
  public void clear() {
    writing(
        batch -> {
          batch.deleteRange(DirectoryFormat.COUNT, DirectoryFormat.AFTER_ALL);
          return -count.get();
        });
  }

  /** Makes what was written durable; blocks on the disk. */
  public void flush() throws IOException {
    try (FlushOptions whole = new FlushOptions().setWaitForFlush(true)) {
      whileOpen(
          () -> {
            db.flush(whole);
            return null;
          });
    } catch (RocksDBException e) {
      throw new IOException("the page directory cannot be flushed", e);
    }
  }

  /**
   * Makes a copy by hard links: flushed, durable, and never changed again.
   *
   * @param target must not exist; its parent must
   */
  public void copyTo(Path target) throws IOException {
    try {
      whileOpen(
          () -> {
            try (Checkpoint checkpoint = Checkpoint.create(db)) {
              checkpoint.createCheckpoint(target.toString());
            }
            return null;
          });
    } catch (RocksDBException e) {
      throw new IOException("the page directory cannot be copied to " + target, e);
    }
  }

  private interface Access<T> {
    T run() throws RocksDBException;
  }

  private interface Change {
    /**
     * @return by how many the pages become more
     */
    long fill(WriteBatch batch) throws RocksDBException;
  }

  private <T> T reading(Access<T> access, T missing) {
    life.readLock().lock();
    try {
      return closed ? missing : access.run();
    } catch (RocksDBException e) {
      LOG.debug("The page directory cannot be read", e);
      return missing;
    } finally {
      life.readLock().unlock();
    }
  }

  private <T> T whileOpen(Access<T> access) throws RocksDBException, IOException {
    life.readLock().lock();
    try {
      if (closed) {
        throw new IOException("the page directory is closed");
      }
      return access.run();
    } finally {
      life.readLock().unlock();
    }
  }

  /** Writes a batch, with the new number of pages in it, all or nothing. */
  private void writing(Change change) {
    life.readLock().lock();
    try (WriteBatch batch = new WriteBatch()) {
      synchronized (writing) {
        if (closed) {
          return;
        }
        long size = count.get() + change.fill(batch);
        batch.put(DirectoryFormat.COUNT, DirectoryFormat.number(size));
        db.write(unlogged, batch);
        count.set(size);
      }
    } catch (RocksDBException e) {
      throw new UncheckedIOException(
          new IOException("the page directory cannot be written: " + e.getMessage(), e));
    } finally {
      life.readLock().unlock();
    }
  }

  private static String reason(UncheckedIOException e) {
    return e.getCause().getMessage();
  }

  boolean isClosed() {
    return reading(() -> false, true);
  }

  /** Flushes and closes. */
  @Override
  public void close() {
    life.writeLock().lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      db.close();
      unlogged.close();
      options.close();
    } finally {
      life.writeLock().unlock();
    }
  }
}
