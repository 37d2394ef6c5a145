package io.radixflow.engine.schedule;

import io.radixflow.engine.cache.key.StableHash;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records which requests are in flight and the progress of each. With this record the next process
 * can find requests that kill processes.
 *
 * <p>The journal is a file of fixed size, mapped into memory; {@link CrashRecord} describes its
 * format. It has an entry for each running request and each intake thread, and entries for the
 * suspects of earlier deaths. Entries are overwritten with plain memory writes as requests start,
 * progress and end, without a system call per step and without a flush. The pages of a mapped file
 * belong to the kernel and survive the end of the process. A crash of the machine may lose them;
 * but then no request is to blame, so nothing is forced to the disk. Requests are named by a 64-bit
 * hash; no content is kept.
 *
 * <p>Without a writable file the entries are in the heap and are lost with the process. Different
 * threads may write different entries; only one thread at a time may write an entry.
 */
public final class CrashJournal implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CrashJournal.class);

  private final ByteBuffer entries;
  private final FileChannel file;
  private final Path path;
  private final Map<Long, CrashRecord.Suspect> suspects;
  private final LongSupplier millis;

  private CrashJournal(
      ByteBuffer entries,
      FileChannel file,
      Path path,
      Map<Long, CrashRecord.Suspect> suspects,
      LongSupplier millis) {
    this.entries = entries;
    this.file = file;
    this.path = path;
    this.suspects = new ConcurrentHashMap<>(suspects);
    this.millis = millis;
  }

  /**
   * Reads the journal of an earlier process, and starts a new one.
   *
   * @param path the file; created with its directory if necessary; null for none
   * @param entryCount how many requests can be in flight at once
   * @param millis the time in milliseconds since the epoch
   */
  public static CrashJournal open(Path path, int entryCount, LongSupplier millis) {
    if (path != null) {
      FileChannel file = null;
      try {
        Map<Long, CrashRecord.Suspect> suspects =
            CrashRecord.suspects(read(path), millis.getAsLong());
        ByteBuffer fresh = CrashRecord.fresh(entryCount, suspects);
        file = replace(path, fresh);
        ByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, fresh.capacity());
        if (!suspects.isEmpty()) {
          LOG.warn(
              "An earlier process died with {} requests in flight; each runs alone first",
              suspects.size());
        }
        return new CrashJournal(mapped, file, path, suspects, millis);
      } catch (IOException | UnsupportedOperationException e) {
        LOG.warn("Crash journal {} unavailable: poison requests will not be detected", path, e);
        closeQuietly(file);
      }
    }
    return new CrashJournal(CrashRecord.fresh(entryCount, Map.of()), null, null, Map.of(), millis);
  }

  private static ByteBuffer read(Path path) throws IOException {
    try {
      if (Files.size(path) <= CrashRecord.MAX_BYTES) {
        return ByteBuffer.wrap(Files.readAllBytes(path));
      }
      LOG.warn("Crash journal {} is larger than any valid one and is ignored", path);
    } catch (NoSuchFileException e) {
      LOG.debug("No crash journal {} of an earlier process exists", path);
    }
    return ByteBuffer.allocate(0);
  }

  /**
   * Replaces the old file atomically: a process that dies meanwhile leaves either the old or the
   * new file.
   */
  private static FileChannel replace(Path path, ByteBuffer content) throws IOException {
    Files.createDirectories(path.toAbsolutePath().getParent());
    Path next = path.resolveSibling(path.getFileName() + ".new");
    FileChannel channel =
        FileChannel.open(
            next,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
    try {
      FileLock lock = channel.tryLock();
      if (lock == null) {
        throw new IOException("another process has locked it");
      }
      // all blocks are allocated now: a write to a hole would end the process if the disk is full
      while (content.hasRemaining()) {
        channel.write(content);
      }
      content.rewind();
      try {
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException e) {
        Files.move(next, path, StandardCopyOption.REPLACE_EXISTING);
      }
      return channel;
    } catch (IOException | OverlappingFileLockException e) {
      closeQuietly(channel);
      throw e instanceof IOException io ? io : new IOException(e);
    }
  }

  private static void closeQuietly(FileChannel channel) {
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        LOG.warn("A crash journal did not close", e);
      }
    }
  }

  /** Returns a request's name in the journal; the same in all processes. */
  public static long nameOf(String label) {
    return StableHash.of64(label);
  }

  /** Returns the suspicion against a request, or null. Any thread. */
  public CrashRecord.Suspect suspect(long name) {
    return suspects.get(name);
  }

  /** Records a request in an entry. */
  public void begin(int entry, long name, boolean suspect) {
    int at = CrashRecord.at(entry);
    entries.putLong(at + CrashRecord.CHECK, 0);
    VarHandle.storeStoreFence();
    entries.putInt(at + CrashRecord.COMPUTED, 0);
    entries.putInt(at + CrashRecord.SUBMITTED, 0);
    entries.putInt(at + CrashRecord.IS_SUSPECT, suspect ? 1 : 0);
    entries.putLong(at + CrashRecord.SINCE, millis.getAsLong());
    entries.putLong(at + CrashRecord.NAME, name);
    VarHandle.storeStoreFence();
    entries.putLong(at + CrashRecord.CHECK, CrashRecord.check(name));
  }

  /**
   * Records that a step with the entry's request is about to be submitted.
   *
   * @param computed tokens of the request that earlier steps have computed
   * @param submitted tokens that are computed when this step has ended
   */
  public void step(int entry, int computed, int submitted) {
    int at = CrashRecord.at(entry);
    entries.putInt(at + CrashRecord.COMPUTED, computed);
    entries.putInt(at + CrashRecord.SUBMITTED, submitted);
  }

  /** Marks the entry's request as no longer suspect. */
  void trust(int entry) {
    entries.putInt(CrashRecord.at(entry) + CrashRecord.IS_SUSPECT, 0);
  }

  public void end(int entry) {
    entries.putLong(CrashRecord.at(entry) + CrashRecord.CHECK, 0);
  }

  /** Clears all entries. */
  public void endAll() {
    for (int entry = 0; entry < CrashRecord.entryCount(entries); entry++) {
      end(entry);
    }
  }

  /** Drops the suspicion against a request. */
  void acquit(long name) {
    if (suspects.remove(name) != null) {
      CrashRecord.acquit(entries, name);
    }
  }

  /** Closes the file; it is deleted unless requests are still suspect. */
  @Override
  public void close() {
    endAll();
    closeQuietly(file);
    if (path != null && suspects.isEmpty()) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        LOG.warn("Crash journal {} could not be deleted", path, e);
      }
    }
  }
}
