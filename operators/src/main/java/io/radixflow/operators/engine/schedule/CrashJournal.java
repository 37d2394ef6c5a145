package io.radixflow.operators.engine.schedule;

import io.radixflow.operators.cache.key.StableHash;
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
 * Tells the next process which requests were under way when this one died, and how far each was, so
 * that one which kills processes is found.
 *
 * <p>A file of fixed size, mapped into memory: an entry for each place that a request can be in,
 * overwritten as requests come, go on and go, and entries of suspects from earlier deaths; see
 * {@link CrashRecord} for the format. An entry is stored with plain memory writes, so it costs no
 * call a step and needs no flush: the pages of a mapped file belong to the kernel and survive the
 * process, whatever ends it. They may be lost with the machine, which no request can be blamed for;
 * so nothing is ever forced to the disk. Requests are named by a 64-bit hash; no content is kept.
 *
 * <p>Without a file, or where it cannot be written, the entries are in the heap and die with the
 * process. Entries of different places may be written by different threads, each by one at a time.
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
   * Reads what an earlier process left, and begins anew.
   *
   * @param path the file, made with its directory if need be; null for none
   * @param places how many requests can be under way at once
   * @param millis the time since the epoch
   */
  public static CrashJournal open(Path path, int places, LongSupplier millis) {
    if (path != null) {
      FileChannel file = null;
      try {
        Map<Long, CrashRecord.Suspect> suspects =
            CrashRecord.suspects(read(path), millis.getAsLong());
        ByteBuffer fresh = CrashRecord.fresh(places, suspects);
        file = replace(path, fresh);
        ByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, fresh.capacity());
        if (!suspects.isEmpty()) {
          LOG.warn(
              "The process died with {} requests under way; each runs alone first",
              suspects.size());
        }
        return new CrashJournal(mapped, file, path, suspects, millis);
      } catch (IOException | UnsupportedOperationException e) {
        LOG.warn("Requests that kill the process cannot be told: {} is not to be had", path, e);
        closeQuietly(file);
      }
    }
    return new CrashJournal(CrashRecord.fresh(places, Map.of()), null, null, Map.of(), millis);
  }

  private static ByteBuffer read(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      if (channel.size() > CrashRecord.MAX_BYTES) {
        LOG.warn("{} is larger than any journal of running requests and is ignored", path);
        return ByteBuffer.allocate(0);
      }
      ByteBuffer content = ByteBuffer.allocate((int) channel.size());
      while (content.hasRemaining() && channel.read(content) >= 0) {
        // until all is read
      }
      return content.flip();
    } catch (NoSuchFileException e) {
      return ByteBuffer.allocate(0);
    }
  }

  /** Puts a whole new file in the old one's place; whoever dies meanwhile leaves one of the two. */
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
        throw new IOException("another process has it");
      }
      // all blocks are written: a hole that finds no space later would end the process
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
        LOG.warn("A journal of running requests did not close", e);
      }
    }
  }

  /** A request's name in the journal; the same in all processes. */
  public static long nameOf(String label) {
    return StableHash.of64(label);
  }

  /** What is held against a request, or null. Any thread. */
  public CrashRecord.Suspect suspect(long name) {
    return suspects.get(name);
  }

  /** A request comes to a place. */
  public void begin(int place, long name, boolean suspect) {
    int at = CrashRecord.at(place);
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
   * A step with the place's request is about to be submitted.
   *
   * @param computed tokens of the request that earlier steps have computed
   * @param submitted tokens that are computed when this step has ended
   */
  public void step(int place, int computed, int submitted) {
    int at = CrashRecord.at(place);
    entries.putInt(at + CrashRecord.COMPUTED, computed);
    entries.putInt(at + CrashRecord.SUBMITTED, submitted);
  }

  /** The place's request is no suspect any more. */
  void trust(int place) {
    entries.putInt(CrashRecord.at(place) + CrashRecord.IS_SUSPECT, 0);
  }

  /** The request leaves the place. */
  public void end(int place) {
    entries.putLong(CrashRecord.at(place) + CrashRecord.CHECK, 0);
  }

  /** All requests leave their places. */
  public void endAll() {
    for (int place = 0; place < CrashRecord.places(entries); place++) {
      end(place);
    }
  }

  /** Nothing is held against a request any more. */
  void acquit(long name) {
    if (suspects.remove(name) != null) {
      CrashRecord.acquit(entries, name);
    }
  }

  /** Ends the file: it stays only for what is still held against requests. */
  @Override
  public void close() {
    endAll();
    closeQuietly(file);
    if (path != null && suspects.isEmpty()) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException e) {
        LOG.warn("{} could not be deleted", path, e);
      }
    }
  }
}
