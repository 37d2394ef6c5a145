package io.radixflow.engine.tier.disk;

import io.radixflow.models.io.LockFile;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which one engine keeps its pages. The engine that replaces it finds the
 * directory again.
 *
 * <pre>
 * tiers/ENGINE ID/engine      what the engine runs, as a hash; modified when the engine starts and ends
 *                 lock        held as long as the engine lives
 *                 pages/      the database of the disk tier
 * </pre>
 *
 * <p>An engine claims the most recently used directory that an engine of the same kind left, and
 * takes over its id. If there is none, the engine creates a directory with a new id. Two engines
 * never have the same directory. Directories that were not used for the retention of pages are
 * deleted. Several engines, of one process or of several, may claim at once.
 */
public final class DiskDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DiskDirectory.class);

  /** Longer than an engine takes to make a directory, or to delete one. */
  static final Duration INCOMPLETE_RETENTION = Duration.ofHours(1);

  private static final String KIND = "engine";
  private static final String LOCK = "lock";
  private static final String PAGES = "pages";
  private static final int ID_CHARACTERS = 12;
  private static final Pattern ID = Pattern.compile("[0-9a-f]{" + ID_CHARACTERS + "}");

  private final Path path;
  private final LockFile lock;

  private DiskDirectory(Path path, LockFile lock) {
    this.path = path;
    this.lock = lock;
  }

  /**
   * Claims a directory. If the restored checkpoint knows other directories but not this one, the
   * directory is emptied: its machine was away, and it may have pages of sessions that were erased
   * in the meantime.
   *
   * @param root contains the directories of a TaskManager's engines; created if necessary
   * @param kind decides which engines can use each other's pages
   * @param restored ids of the engines whose pages the restored checkpoint refers to
   * @param retention how long an unused directory stays
   * @throws IOException if there is no directory and none can be created
   */
  public static DiskDirectory claim(
      Path root, String kind, Set<String> restored, Duration retention) throws IOException {
    PrivateDirectories.create(root);
    DiskDirectory claimed = find(root, kind, retention);
    if (claimed == null) {
      claimed = create(root, kind);
    }
    try {
      if (!restored.isEmpty() && !restored.contains(claimed.engine())) {
        LOG.info("Deleting the pages in {}, which the restored job does not know", claimed.path);
        PrivateDirectories.delete(claimed.pages());
      }
      return claimed;
    } catch (IOException | RuntimeException e) {
      claimed.close();
      throw e;
    }
  }

  /**
   * Finds a directory of a kind, and deletes directories that are too old; null if none is found.
   */
  private static DiskDirectory find(Path root, String kind, Duration retention) throws IOException {
    for (Path path : lastUsedFirst(root)) {
      // directories of another kind are not locked even for a moment, because an engine of that
      // kind may be looking for them
      if (kind.equals(kind(path)) || isOld(path, retention)) {
        DiskDirectory locked = lock(path);
        try {
          if (locked != null && kind.equals(kind(path))) {
            locked.touch();
            return locked;
          }
        } catch (IOException | RuntimeException e) {
          locked.release();
          throw e;
        }
        if (locked != null) {
          locked.deleteOrRelease(retention);
        }
      }
    }
    return null;
  }

  /** Returns the directories of engines, the last used first. */
  private static List<Path> lastUsedFirst(Path root) throws IOException {
    record Candidate(Path path, FileTime used) {}
    List<Candidate> candidates = new ArrayList<>();
    try (Stream<Path> entries = Files.list(root)) {
      for (Path path : entries.toList()) {
        if (ID.matcher(path.getFileName().toString()).matches()) {
          candidates.add(new Candidate(path, lastUsed(path)));
        }
      }
    }
    candidates.sort(Comparator.comparing(Candidate::used).reversed());
    return candidates.stream().map(Candidate::path).toList();
  }

  private static DiskDirectory create(Path root, String kind) throws IOException {
    DiskDirectory created;
    do {
      String id = UUID.randomUUID().toString().replace("-", "").substring(0, ID_CHARACTERS);
      created = lock(PrivateDirectories.create(root.resolve(id)));
    } while (created == null);
    try {
      Files.writeString(created.path.resolve(KIND), kind);
      return created;
    } catch (IOException e) {
      created.release();
      throw e;
    }
  }

  /** Locks a directory; returns null if another engine has locked or deleted it. */
  private static DiskDirectory lock(Path path) throws IOException {
    LockFile lock;
    try {
      lock = LockFile.tryLock(path.resolve(LOCK));
    } catch (NoSuchFileException e) {
      return null;
    }
    if (lock != null && !lock.exists()) {
      lock.close();
      return null;
    }
    return lock == null ? null : new DiskDirectory(path, lock);
  }

  /**
   * Returns whether a directory was not used for the retention, or a crash has left it incomplete.
   */
  private static boolean isOld(Path path, Duration retention) throws IOException {
    Duration stays = kind(path) == null ? INCOMPLETE_RETENTION : retention;
    return lastUsed(path).toMillis() < System.currentTimeMillis() - stays.toMillis();
  }

  /**
   * Returns when the directory was last claimed or closed, or a file of its pages was last created.
   */
  private static FileTime lastUsed(Path path) throws IOException {
    if (kind(path) == null) {
      return modified(path);
    }
    FileTime kind = modified(path.resolve(KIND));
    FileTime pages = modified(path.resolve(PAGES));
    return kind.compareTo(pages) > 0 ? kind : pages;
  }

  private static FileTime modified(Path path) throws IOException {
    try {
      return Files.getLastModifiedTime(path);
    } catch (NoSuchFileException e) {
      return FileTime.fromMillis(0);
    }
  }

  /** Returns what the engine of a directory runs; null if the directory is incomplete. */
  private static String kind(Path path) throws IOException {
    try {
      return Files.readString(path.resolve(KIND));
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  private void touch() throws IOException {
    Files.setLastModifiedTime(path.resolve(KIND), FileTime.fromMillis(System.currentTimeMillis()));
  }

  /** Returns the engine's id, which its successors in this directory take over. */
  public String engine() {
    return path.getFileName().toString();
  }

  /** Returns the directory of the pages, which need not exist. */
  public Path pages() {
    return path.resolve(PAGES);
  }

  /** Deletes the directory if it is still old; no engine claims it once its kind is deleted. */
  private void deleteOrRelease(Duration retention) {
    try {
      if (kind(path) == null || isOld(path, retention)) {
        LOG.info("Deleting {}, which no engine has used for {}", path, retention);
        Files.deleteIfExists(path.resolve(KIND));
        PrivateDirectories.delete(path);
      }
    } catch (IOException e) {
      LOG.info("The next engine deletes {}: {}", path, e.toString());
    } finally {
      release();
    }
  }

  /** Leaves the directory to the next engine. */
  @Override
  public void close() {
    try {
      touch();
    } catch (IOException e) {
      LOG.debug("The last use of {} is not recorded", path, e);
    }
    release();
  }

  private void release() {
    try {
      lock.close();
    } catch (IOException e) {
      LOG.warn("The lock of {} is not released", path, e);
    }
  }
}
