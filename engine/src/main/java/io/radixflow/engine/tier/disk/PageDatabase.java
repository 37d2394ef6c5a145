package io.radixflow.engine.tier.disk;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.FlushOptions;
import org.rocksdb.LiveFileMetaData;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the RocksDB of a disk tier and keeps it usable. A database that can no longer be opened or
 * read is deleted and starts empty. A database that keeps failing is opened again. Thread-safe.
 *
 * <p>It has two column families: the default one, which is the page index, and {@code pages}, whose
 * values are in blob files.
 */
final class PageDatabase implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PageDatabase.class);
  private static final byte[] PAGES = {'p', 'a', 'g', 'e', 's'};
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Path path;
  private final PageDatabaseOptions options;
  private final byte[] identity;

  /** Held for writing while the database is opened or closed. */
  private final ReadWriteLock life = new ReentrantReadWriteLock();

  private RocksDB db;
  private ColumnFamilyHandle index;
  private ColumnFamilyHandle pages;

  /** RocksDB's message about damage that it has found; null for none. */
  private volatile String damage;

  /** When writes began to fail; 0 if the last write succeeded. */
  private volatile long failingSince;

  private volatile long opened;
  private long logged = System.nanoTime() - LOG_NANOS;

  /** Reads from the open database. */
  @FunctionalInterface
  interface Access<T> {
    T run(RocksDB db) throws RocksDBException;
  }

  /** Fills a batch that is then written. */
  @FunctionalInterface
  interface Change {
    void fill(WriteBatch batch, ColumnFamilyHandle pages) throws RocksDBException;
  }

  private PageDatabase(Path path, PageDatabaseOptions options, byte[] identity) {
    this.path = path;
    this.options = options;
    this.identity = identity;
  }

  /**
   * Opens the database in a directory. The database is empty if there was none, if the existing one
   * is damaged, or if it has another identity.
   *
   * @param writeBufferBytes bytes of a write buffer, about the size of a blob file
   * @param identity names model, layout and page size; pages with another identity are deleted
   * @throws IOException if the directory is in use, here or in another process, or if the disk is
   *     full
   */
  static PageDatabase open(Path path, long writeBufferBytes, String identity) throws IOException {
    RocksDbLibrary.load();
    PrivateDirectories.create(path);
    PageDatabase made =
        new PageDatabase(
            path,
            new PageDatabaseOptions(writeBufferBytes),
            identity.getBytes(StandardCharsets.UTF_8));
    try {
      made.openOrEmpty();
      return made;
    } catch (IOException | RuntimeException e) {
      made.closeFiles();
      made.options.close();
      throw e;
    }
  }

  private void openOrEmpty() throws IOException {
    try {
      openFiles();
      byte[] found = db.get(DiskIndex.IDENTITY);
      if (found != null && !Arrays.equals(found, identity)) {
        empty("its pages are of another model or layout");
      } else if (found == null) {
        db.put(DiskIndex.IDENTITY, identity);
      }
    } catch (RocksDBException e) {
      if (isLocked(e) || hasNoSpace(e)) {
        throw doesNotOpen(e);
      }
      empty(e.getMessage());
    }
  }

  private void openFiles() throws RocksDBException {
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    db =
        RocksDB.open(
            options.database,
            path.toString(),
            List.of(
                new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, options.index),
                new ColumnFamilyDescriptor(PAGES, options.pages)),
            handles);
    index = handles.get(0);
    pages = handles.get(1);
    verifyTables();
    db.enableAutoCompaction(List.of(pages));
    opened = System.nanoTime();
    failingSince = 0;
    damage = null;
  }

  /**
   * Verifies the checksums of the tables that say where pages are. Reads of pages do not, because
   * they would also verify the pages. RocksDB ends the process when it reads a damaged table. No
   * compaction runs before this, because it would also read the tables and delete some of the
   * listed ones.
   */
  private void verifyTables() throws RocksDBException {
    for (LiveFileMetaData table : db.getLiveFilesMetaData()) {
      if (Arrays.equals(table.columnFamilyName(), PAGES)) {
        try (Options plain = new Options();
            SstFileReader reader = new SstFileReader(plain)) {
          reader.open(table.path() + table.fileName());
          reader.verifyChecksum();
        }
      }
    }
  }

  /** Deletes all files and opens an empty database. */
  private void empty(String reason) throws IOException {
    closeFiles();
    LOG.warn("Disk tier {} starts again without pages: {}", path, reason);
    deleteAndOpen();
  }

  private void deleteAndOpen() throws IOException {
    PrivateDirectories.delete(path);
    PrivateDirectories.create(path);
    try {
      openFiles();
      db.put(DiskIndex.IDENTITY, identity);
    } catch (RocksDBException e) {
      throw doesNotOpen(e);
    }
  }

  private IOException doesNotOpen(RocksDBException e) {
    return new IOException("the disk tier " + path + " does not open: " + e.getMessage(), e);
  }

  /** The message is the only sign: "While lock file: …/LOCK: …", "lock hold by …: …/LOCK: …". */
  private static boolean isLocked(RocksDBException e) {
    return code(e) == Status.Code.IOError && e.getMessage().contains("/LOCK: ");
  }

  private static boolean hasNoSpace(RocksDBException e) {
    return e.getStatus() != null && e.getStatus().getSubCode() == Status.SubCode.NoSpace;
  }

  private static Status.Code code(RocksDBException e) {
    return e.getStatus() == null ? null : e.getStatus().getCode();
  }

  /** Returns why a page was not read. Only RocksDB's message shows that a file is gone. */
  static MissReason reason(RocksDBException e) {
    if (isDamage(e)) {
      return MissReason.CHECKSUM;
    }
    return e.getMessage().contains("No such file") ? MissReason.FILE_GONE : MissReason.IO;
  }

  /** Returns whether a failure is due to bytes that differ from the written bytes. */
  private static boolean isDamage(RocksDBException e) {
    return code(e) == Status.Code.Corruption;
  }

  /**
   * Reads from the database.
   *
   * @param missing returned if the database cannot be read
   */
  <T> T read(Access<T> access, T missing) {
    life.readLock().lock();
    try {
      return db == null ? missing : access.run(db);
    } catch (RocksDBException e) {
      failed(e);
      return missing;
    } finally {
      life.readLock().unlock();
    }
  }

  /**
   * Reads a page as it was written. A damaged page does not mean that other pages are damaged.
   *
   * @param value a direct buffer; the page is written from position 0 on, and the limit is set
   * @return the size of the page in bytes, which may exceed the buffer; -1 if the page does not
   *     exist
   */
  int readPage(ByteBuffer key, ByteBuffer value) throws RocksDBException {
    life.readLock().lock();
    try {
      return db == null ? -1 : db.get(pages, options.reads, key, value.clear());
    } finally {
      life.readLock().unlock();
    }
  }

  /**
   * Writes a batch, all of it or nothing.
   *
   * @param durably whether the batch must also survive a power failure
   * @return whether it was written
   */
  boolean write(boolean durably, Change change) {
    life.readLock().lock();
    try (WriteBatch batch = new WriteBatch();
        WriteOptions how = new WriteOptions().setSync(durably)) {
      if (db == null) {
        return false;
      }
      change.fill(batch, pages);
      db.write(how, batch);
      failingSince = 0;
      return true;
    } catch (RocksDBException e) {
      failed(e);
      return false;
    } finally {
      life.readLock().unlock();
    }
  }

  private synchronized void failed(RocksDBException e) {
    long now = System.nanoTime();
    if (isDamage(e)) {
      damage = e.getMessage();
    }
    failingSince = failingSince == 0 ? now : failingSince;
    if (now - logged >= LOG_NANOS) {
      logged = now;
      LOG.warn("Disk tier {} fails and its pages are missed: {}", path, e.getMessage());
    }
  }

  /** Deletes the blob files whose pages were all removed. */
  void compact() {
    read(
        open -> {
          try (FlushOptions whole = new FlushOptions().setWaitForFlush(true)) {
            open.flush(whole, List.of(index, pages));
          }
          open.compactRange(pages);
          return null;
        },
        null);
  }

  /** Returns whether {@link #heal} has something to do. */
  boolean needsHealing() {
    long now = System.nanoTime();
    long since = failingSince;
    return damage != null
        || since != 0 && now - since >= PATIENCE_NANOS && now - opened >= PATIENCE_NANOS;
  }

  /**
   * Returns whether the database is open, and the last write and all reads since have succeeded.
   */
  boolean isHealthy() {
    life.readLock().lock();
    try {
      return db != null && damage == null && failingSince == 0;
    } finally {
      life.readLock().unlock();
    }
  }

  /** Opens the database again after failures, without pages if it is damaged. */
  void heal() {
    life.writeLock().lock();
    try {
      String reason = damage;
      closeFiles();
      if (reason == null) {
        openOrEmpty();
      } else {
        empty(reason);
      }
    } catch (IOException e) {
      opened = System.nanoTime();
      LOG.warn("Disk tier {} is opened again later: {}", path, e.getMessage());
    } finally {
      life.writeLock().unlock();
    }
  }

  /** Deletes all pages, and deletes their bytes immediately. */
  void clear() {
    life.writeLock().lock();
    try {
      closeFiles();
      deleteAndOpen();
    } catch (IOException e) {
      failingSince = opened = System.nanoTime();
      LOG.warn("Disk tier {} is opened again later: {}", path, e.getMessage());
    } finally {
      life.writeLock().unlock();
    }
  }

  /** Returns the bytes of all files in use, including write buffers that are in the log. */
  long bytes() {
    return read(
        open ->
            open.getLongProperty(pages, "rocksdb.live-blob-file-size")
                + open.getLongProperty(pages, "rocksdb.live-sst-files-size")
                + open.getLongProperty(index, "rocksdb.live-sst-files-size")
                + 2 * open.getLongProperty(pages, "rocksdb.cur-size-all-mem-tables")
                + 2 * open.getLongProperty(index, "rocksdb.cur-size-all-mem-tables"),
        0L);
  }

  private void closeFiles() {
    if (db != null) {
      index.close();
      pages.close();
      db.close();
      db = null;
    }
  }

  @Override
  public void close() {
    life.writeLock().lock();
    try {
      closeFiles();
      options.close();
    } finally {
      life.writeLock().unlock();
    }
  }
}
