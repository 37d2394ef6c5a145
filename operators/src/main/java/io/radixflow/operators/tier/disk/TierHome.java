package io.radixflow.operators.tier.disk;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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
 * Where one engine keeps its pages on a disk, found again by the process that takes its place.
 *
 * <pre>
 * tiers/ENGINE ID/engine      what the engine runs, as a hash; its time is when it was last claimed or left
 *                 lock        held as long as the engine lives
 *                 pages/      the database of the disk tier
 * </pre>
 *
 * <p>An engine takes the home that one like it left, of several the last used, and keeps its id;
 * else it gets a new one. Two engines never have the same. Homes that nobody has used for {@link
 * #FORGOTTEN_AFTER} are deleted. Several engines, of one process or of several, may claim at once.
 */
public final class TierHome implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TierHome.class);

  static final Duration FORGOTTEN_AFTER = Duration.ofDays(7);

  private static final String KIND = "engine";
  private static final String LOCK = "lock";
  private static final String PAGES = "pages";

  /** Ends the names of homes that are being deleted. */
  private static final String FORGOTTEN = ".old";

  private static final int ID_CHARACTERS = 12;
  private static final Pattern ID = Pattern.compile("[0-9a-f]{" + ID_CHARACTERS + "}");

  private final Path path;
  private final LockFile lock;

  private TierHome(Path path, LockFile lock) {
    this.path = path;
    this.lock = lock;
  }

  /**
   * Claims a home. One that had no part in the restored checkpoint, while others had, is emptied:
   * it was away, and may have pages of sessions that were erased meanwhile.
   *
   * @param root where the homes of a TaskManager are; made if need be
   * @param kind tells which engines can use each other's pages
   * @param restored ids of the engines whose pages the restored checkpoint goes with
   * @throws IOException if there is none and none can be made
   */
  public static TierHome claim(Path root, String kind, Set<String> restored) throws IOException {
    TierHome home = claim(root, kind);
    try {
      if (!restored.isEmpty() && !restored.contains(home.engine())) {
        LOG.info("Pages in {} are deleted: they are not of the job as it is restored", home.path);
        PrivateFiles.delete(home.directory());
      }
      return home;
    } catch (IOException | RuntimeException e) {
      home.close();
      throw e;
    }
  }

  private static TierHome claim(Path root, String kind) throws IOException {
    if (!Files.isDirectory(root)) {
      PrivateFiles.createDirectory(root);
    }
    deleteForgotten(root);
    for (Path path : homes(root)) {
      // others are not locked even for a moment: whose they are may be looking for them now
      if (kind.equals(kind(path)) || isForgotten(path)) {
        TierHome home = claim(path);
        if (home != null && home.isTaken(kind)) {
          return home;
        }
      }
    }
    return create(root, kind);
  }

  /** Takes the home if it is of this kind, else gives it back, or deletes it if it is forgotten. */
  private boolean isTaken(String kind) throws IOException {
    boolean taken = false;
    try {
      if (kind.equals(kind(path))) {
        touch();
        taken = true;
      } else if (isForgotten(path)) {
        forget(path);
      }
    } finally {
      if (!taken) {
        release();
      }
    }
    return taken;
  }

  private static TierHome create(Path root, String kind) throws IOException {
    TierHome home;
    do {
      String id = UUID.randomUUID().toString().replace("-", "").substring(0, ID_CHARACTERS);
      Path path = root.resolve(id);
      PrivateFiles.createDirectory(path);
      home = claim(path);
      // somebody else may have it for a moment
    } while (home == null);
    try {
      Files.writeString(home.path.resolve(KIND), kind);
      return home;
    } catch (IOException e) {
      home.release();
      throw e;
    }
  }

  /** Null if somebody has it, or has deleted it. */
  private static TierHome claim(Path path) throws IOException {
    LockFile lock;
    try {
      lock = LockFile.tryLock(path.resolve(LOCK));
    } catch (NoSuchFileException e) {
      return null;
    }
    if (lock == null) {
      return null;
    }
    if (!lock.isThere()) {
      lock.close();
      return null;
    }
    return new TierHome(path, lock);
  }

  private static boolean isForgotten(Path path) throws IOException {
    return lastUsed(path).toMillis() < System.currentTimeMillis() - FORGOTTEN_AFTER.toMillis();
  }

  /** Moved first, so that nobody finds a home of which a part is gone. */
  private static void forget(Path path) {
    LOG.info("The pages in {} have not been used for long and are deleted", path);
    Path forgotten = path.resolveSibling(path.getFileName() + FORGOTTEN);
    try {
      Files.move(path, forgotten, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      LOG.warn("{} cannot be deleted", path, e);
    }
    delete(forgotten);
  }

  private static void deleteForgotten(Path root) throws IOException {
    try (DirectoryStream<Path> left = Files.newDirectoryStream(root, "*" + FORGOTTEN)) {
      left.forEach(TierHome::delete);
    }
  }

  private static void delete(Path forgotten) {
    try {
      PrivateFiles.delete(forgotten);
    } catch (IOException e) {
      LOG.info("{} is deleted by the next engine, or is now by another: {}", forgotten, e);
    }
  }

  /** The last used first. */
  private static List<Path> homes(Path root) throws IOException {
    record Home(Path path, FileTime used) {}
    List<Home> homes = new ArrayList<>();
    try (Stream<Path> entries = Files.list(root)) {
      for (Path path : entries.toList()) {
        if (ID.matcher(path.getFileName().toString()).matches()) {
          homes.add(new Home(path, lastUsed(path)));
        }
      }
    }
    homes.sort(Comparator.comparing(Home::used).reversed());
    return homes.stream().map(Home::path).toList();
  }

  /** When it was claimed or left, or a file of its pages was made. */
  private static FileTime lastUsed(Path path) throws IOException {
    FileTime last = null;
    for (String part : List.of(KIND, PAGES)) {
      FileTime time = time(path.resolve(part));
      last = last == null || time != null && time.compareTo(last) > 0 ? time : last;
    }
    last = last == null ? time(path) : last;
    return last == null ? FileTime.fromMillis(0) : last;
  }

  /** Null if there is no such file. */
  private static FileTime time(Path path) throws IOException {
    try {
      return Files.getLastModifiedTime(path);
    } catch (NoSuchFileException e) {
      return null;
    }
  }

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

  /** The engine's id, the same for its successors here. */
  public String engine() {
    return path.getFileName().toString();
  }

  /** For pages; may not exist yet. */
  public Path directory() {
    return path.resolve(PAGES);
  }

  /** Leaves the home to the next. */
  @Override
  public void close() {
    try {
      touch();
    } catch (IOException e) {
      LOG.debug("It is not seen that {} was in use until now", path, e);
    }
    release();
  }

  private void release() {
    try {
      lock.close();
    } catch (IOException e) {
      LOG.warn("{} is not given back", path, e);
    }
  }
}
