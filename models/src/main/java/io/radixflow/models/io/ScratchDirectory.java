package io.radixflow.models.io;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserPrincipal;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory of this process for temporary files, which only its user can read. It is deleted when
 * it is closed, and at a normal end of the process. If the process is killed, the next process that
 * makes a scratch directory in the same directory deletes it.
 *
 * <p>Next to the directory {@code NAME} is the file {@code NAME.owner}, which the process keeps
 * locked. The operating system unlocks it when the process ends, even after a crash. Thread-safe.
 */
public final class ScratchDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ScratchDirectory.class);
  private static final String PREFIX = "radixflow-";
  private static final String SUFFIX = ".owner";
  private static final int ATTEMPTS = 50;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Path path;
  private final Path owner;
  private final FileChannel lock;
  private final Thread hook = new Thread(this::deleteInUse, "delete scratch directory");

  private ScratchDirectory(Path path, Path owner, FileChannel lock) {
    this.path = path;
    this.owner = owner;
    this.lock = lock;
  }

  /** Creates a directory in the system's directory for temporary files. */
  public static ScratchDirectory create(String purpose) throws IOException {
    return createIn(null, purpose);
  }

  /**
   * Creates a directory. Also deletes directories next to it that remain from killed processes of
   * this user.
   *
   * @param parent the parent directory, created if it does not exist; null for the system's
   *     directory for temporary files
   * @param purpose a part of the directory's name
   */
  public static synchronized ScratchDirectory createIn(Path parent, String purpose)
      throws IOException {
    Path base =
        parent == null
            ? Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath()
            : PrivateDirectories.create(parent.toAbsolutePath());
    ScratchDirectory made = claim(base, PREFIX + purpose + "-" + UUID.randomUUID());
    Runtime.getRuntime().addShutdownHook(made.hook);
    deleteLeftovers(base, Files.getOwner(made.owner));
    return made;
  }

  private static ScratchDirectory claim(Path parent, String name) throws IOException {
    Path owner = parent.resolve(name + SUFFIX);
    System.setProperty(property(owner), name);
    FileChannel lock =
        FileChannel.open(owner, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    // another process that is looking for leftovers may have locked it, and will delete it
    if (lock.tryLock() == null || !Files.exists(owner)) {
      lock.close();
      System.clearProperty(property(owner));
      return claim(parent, name + "-");
    }
    return new ScratchDirectory(PrivateDirectories.create(parent.resolve(name)), owner, lock);
  }

  /**
   * The name of the system property that marks a locked file. A process loses its lock on a file
   * when it closes another channel of the same file. The property prevents all class loaders of the
   * process from opening the file.
   */
  private static String property(Path owner) {
    return "radixflow.scratch." + owner;
  }

  private static void deleteLeftovers(Path parent, UserPrincipal user) throws IOException {
    try (DirectoryStream<Path> owners = Files.newDirectoryStream(parent, PREFIX + "*" + SUFFIX)) {
      for (Path owner : owners) {
        try {
          deleteLeftover(owner, user);
        } catch (IOException | OverlappingFileLockException e) {
          LOG.debug("Cannot delete the leftover of {}", owner, e);
        }
      }
    }
  }

  private static void deleteLeftover(Path owner, UserPrincipal user) throws IOException {
    if (System.getProperty(property(owner)) != null || !isOf(user, owner)) {
      return;
    }
    try (FileChannel lock =
        FileChannel.open(owner, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
      if (lock.tryLock() == null) {
        return;
      }
      String name = owner.getFileName().toString();
      Path directory = owner.resolveSibling(name.substring(0, name.length() - SUFFIX.length()));
      if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) && isOf(user, directory)) {
        LOG.info("Deleting {}, whose process has ended", directory);
        PrivateDirectories.delete(directory);
      }
      Files.deleteIfExists(owner);
    }
  }

  private static boolean isOf(UserPrincipal user, Path path) throws IOException {
    return Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).equals(user);
  }

  public Path path() {
    return path;
  }

  /**
   * From now on only {@link #close} deletes the directory, even when the process ends. The owner
   * closes it after all writers have stopped.
   */
  public void deleteOnlyOnClose() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      LOG.debug("The process is ending and the hook is running", e);
    }
  }

  private void delete() {
    try {
      if (Files.exists(path)) {
        PrivateDirectories.delete(path);
      }
      Files.deleteIfExists(owner);
    } catch (IOException e) {
      LOG.debug("Cannot delete {}", path, e);
    }
  }

  /** Runs at the end of the process. Other threads may still write until then. */
  private void deleteInUse() {
    for (int i = 0; i < ATTEMPTS && Files.exists(path); i++) {
      delete();
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  @Override
  public void close() throws IOException {
    delete();
    lock.close();
    System.clearProperty(property(owner));
    deleteOnlyOnClose();
  }
}
