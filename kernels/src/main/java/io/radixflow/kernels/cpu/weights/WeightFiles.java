package io.radixflow.kernels.cpu.weights;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.models.RadixflowHome;
import io.radixflow.models.io.LockFile;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The directory of files with repacked weights. All processes of a user share it. A process that
 * writes or deletes files holds its lock, and a file that any process maps is not deleted.
 */
public class WeightFiles {

  private static final String SUFFIX = ".weights";
  private static final String TEMPORARY = ".tmp";

  /** A new file leaves at least this much space on the disk. */
  private static final long LEAST_FREE = 1L << 30;

  /** Smaller weights are repacked in an instant. */
  private static final long LEAST = 16 << 20;

  private final Path directory;
  private final long limit;
  private final long least;

  /**
   * A file.
   *
   * @param lastUsed when a process last opened it
   * @param inUse whether a process maps it
   */
  public record Entry(Path path, long bytes, FileTime lastUsed, boolean inUse) {}

  /**
   * @param limit the largest size of all files together, in bytes
   * @param least bytes of weights below which a file is not worth its while
   */
  public WeightFiles(Path directory, long limit, long least) {
    this.directory = directory;
    this.limit = limit;
    this.least = least;
  }

  /** The files in this user's cache directory. */
  public static WeightFiles ofUser(long limit) {
    return new WeightFiles(RadixflowHome.path().resolve("weights"), limit, LEAST);
  }

  /** Bytes of weights below which a file is not worth its while. */
  public long least() {
    return least;
  }

  Path path(String name) {
    return directory.resolve(name + SUFFIX);
  }

  /**
   * Locks the directory, which is created if it is missing. Returns null if others have locked it.
   */
  LockFile tryLock() throws IOException {
    PrivateDirectories.create(directory);
    return LockFile.tryLock(directory.resolve(".lock"));
  }

  /**
   * Makes room for a new file. The caller has the lock. Deletes what a process left that ended
   * while it wrote, and while the limit would be exceeded the files that were not used for the
   * longest time.
   *
   * @throws FileSystemException if there is not enough room
   */
  void makeRoom(Path target, long bytes) throws IOException {
    try (Stream<Path> all = Files.list(directory)) {
      for (Path file : all.filter(file -> file.toString().endsWith(TEMPORARY)).toList()) {
        Files.deleteIfExists(file);
      }
    }
    List<Entry> others = new ArrayList<>(list());
    others.removeIf(entry -> entry.path.equals(target));
    long excess = others.stream().mapToLong(Entry::bytes).sum() + bytes - limit;
    for (Entry entry : others) {
      if (excess > 0 && bytes <= limit && delete(entry.path)) {
        excess -= entry.bytes;
      }
    }
    if (excess > 0) {
      throw new FileSystemException(
          target.toString(),
          null,
          (bytes >> 20) + " MB more would exceed the limit of " + (limit >> 20) + " MB");
    }
    long free = usableBytes();
    if (free - bytes < LEAST_FREE) {
      throw new FileSystemException(
          target.toString(),
          null,
          String.format(
              "it needs %d MB and would leave less than %d MB of %d MB free",
              bytes >> 20, LEAST_FREE >> 20, free >> 20));
    }
  }

  /** Free bytes of the disk. */
  protected long usableBytes() throws IOException {
    return Files.getFileStore(directory).getUsableSpace();
  }

  /** Creates a file under a temporary name. */
  Path createTemporary() throws IOException {
    return Files.createTempFile(
        directory,
        "new",
        TEMPORARY,
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  /** Opens a new file for writing. */
  protected FileChannel openTemporary(Path temporary) throws IOException {
    return FileChannel.open(temporary, StandardOpenOption.WRITE);
  }

  /** Makes the names of files durable. */
  void force() throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }

  /** Returns all files, beginning with the file that was not used for the longest time. */
  public List<Entry> list() throws IOException {
    if (!Files.isDirectory(directory)) {
      return List.of();
    }
    List<Entry> entries = new ArrayList<>();
    try (Stream<Path> all = Files.list(directory)) {
      for (Path path : all.filter(file -> file.toString().endsWith(SUFFIX)).toList()) {
        BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
        boolean inUse = !isLockable() || !NativeMemory.lock(path, file -> {});
        entries.add(new Entry(path, attributes.size(), attributes.lastAccessTime(), inUse));
      }
    } catch (NoSuchFileException e) {
      return list(); // another process has just deleted or replaced it
    }
    entries.sort(Comparator.comparing(Entry::lastUsed));
    return entries;
  }

  /**
   * Deletes the files that no process maps.
   *
   * @return the deleted files
   * @throws FileSystemException if a process writes a file
   */
  public List<Entry> prune() throws IOException {
    List<Entry> deleted = new ArrayList<>();
    if (!Files.isDirectory(directory)) {
      return deleted;
    }
    try (LockFile lock = tryLock()) {
      if (lock == null) {
        throw new FileSystemException(directory.toString(), null, "a process writes a file there");
      }
      for (Entry entry : list()) {
        if (delete(entry.path)) {
          deleted.add(entry);
        }
      }
    }
    return deleted;
  }

  private static boolean delete(Path path) throws IOException {
    return isLockable() && NativeMemory.lock(path, Files::deleteIfExists);
  }

  /** Only native code can find out whether a file is in use. */
  private static boolean isLockable() {
    return !NativeKernels.supported().isEmpty();
  }
}
