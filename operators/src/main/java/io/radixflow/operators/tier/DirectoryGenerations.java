package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The page directory of an engine, and copies of it, one with each checkpoint.
 *
 * <pre>
 * live/      the directory in use
 * gen-12/    as it was at checkpoint 12; its tables are hard links, so that it costs little
 * </pre>
 *
 * <p>A copy is made while the checkpoint's asynchronous part runs, so that Flink's mailbox never
 * waits for it. Copies older than the last {@link #KEPT} complete ones are deleted when the next is
 * made, as are those of checkpoints that failed. Any thread.
 */
public final class DirectoryGenerations implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryGenerations.class);

  /** Generations of complete checkpoints that are kept. */
  static final int KEPT = 2;

  /** Generations that are kept at all, of checkpoints whose end nobody told. */
  static final int MOST = 8;

  private static final String LIVE = "live";
  private static final String PREFIX = "gen-";
  private static final String TEMPORARY = ".new";

  private final Path root;
  private final String engine;
  private RocksDbDirectory live;

  /** Generations as they were made, the oldest first. */
  private final Deque<Long> made = new ArrayDeque<>();

  private final Map<Long, GenerationRef> refs = new HashMap<>();

  /** Both are written by Flink's mailbox, which must not wait for {@link #make}. */
  private final Set<Long> complete = ConcurrentHashMap.newKeySet();

  private final Set<Long> failed = ConcurrentHashMap.newKeySet();

  private DirectoryGenerations(Path root, String engine, RocksDbDirectory live, List<Long> made) {
    this.root = root;
    this.engine = engine;
    this.live = live;
    this.made.addAll(made);
  }

  /**
   * Opens the directory as a checkpoint had it; if that generation is not there, or was changed, as
   * the last process left it; else a generation that can be read; else an empty one. Which of them
   * it was makes no difference to what is true once the segments were scanned.
   *
   * @param root of this engine's directory, made if need be
   * @param engine id of the engine's home
   * @param restored what the restored checkpoint remembers, of any engines
   * @throws IOException if another has the directory open, which is then left as it is, or not even
   *     an empty one can be made
   */
  public static DirectoryGenerations open(Path root, String engine, List<GenerationRef> restored)
      throws IOException {
    Files.createDirectories(root);
    requireUnused(root.resolve(LIVE));
    List<Long> made = list(root);
    RocksDbDirectory live = restored(root, engine, restored);
    if (live == null) {
      live = tryOpen(root.resolve(LIVE));
    }
    for (int i = made.size() - 1; i >= 0 && live == null; i--) {
      live = adopt(root, made.get(i));
    }
    if (live == null) {
      TierFiles.delete(root.resolve(LIVE));
      live = RocksDbDirectory.open(root.resolve(LIVE));
    }
    return new DirectoryGenerations(root, engine, live, made);
  }

  /** What another has open must not be replaced by a generation. */
  private static void requireUnused(Path live) throws DirectoryInUseException {
    RocksDbDirectory left = tryOpen(live);
    if (left != null) {
      left.close();
    }
  }

  private static RocksDbDirectory restored(Path root, String engine, List<GenerationRef> restored)
      throws DirectoryInUseException {
    List<GenerationRef> own =
        restored.stream()
            .filter(ref -> ref.engine().equals(engine))
            .sorted(Comparator.comparingLong(GenerationRef::generation).reversed())
            .toList();
    for (GenerationRef ref : own) {
      Path path = path(root, ref.generation());
      try {
        if (Files.isDirectory(path) && TierFiles.digest(path).equals(ref.digest())) {
          RocksDbDirectory live = adopt(root, ref.generation());
          if (live != null) {
            return live;
          }
        }
      } catch (DirectoryInUseException e) {
        throw e;
      } catch (IOException e) {
        LOG.warn("Generation {} of the page directory cannot be read", ref.generation(), e);
      }
      LOG.info("Generation {} of the page directory is not as it was made", ref.generation());
    }
    return null;
  }

  /** Puts a generation in the place of the live directory; null if it does not open. */
  private static RocksDbDirectory adopt(Path root, long generation) throws DirectoryInUseException {
    Path next = root.resolve(LIVE + TEMPORARY);
    try {
      TierFiles.delete(next);
      TierFiles.link(path(root, generation), next);
      TierFiles.delete(root.resolve(LIVE));
      Files.move(next, root.resolve(LIVE), StandardCopyOption.ATOMIC_MOVE);
      return tryOpen(root.resolve(LIVE));
    } catch (DirectoryInUseException e) {
      throw e;
    } catch (IOException e) {
      LOG.warn("Generation {} of the page directory cannot be taken up", generation, e);
      return null;
    }
  }

  private static RocksDbDirectory tryOpen(Path path) throws DirectoryInUseException {
    if (!Files.isDirectory(path)) {
      return null;
    }
    try {
      return RocksDbDirectory.open(path);
    } catch (DirectoryInUseException e) {
      throw e;
    } catch (IOException e) {
      LOG.warn("{}; its pages are looked for elsewhere", e.getMessage(), e);
      return null;
    }
  }

  private static Path path(Path root, long generation) {
    return root.resolve(PREFIX + generation);
  }

  /** The generations that are there, the oldest first. */
  private static List<Long> list(Path root) throws IOException {
    record Found(long generation, FileTime time) {}
    List<Found> found = new ArrayList<>();
    try (Stream<Path> entries = Files.list(root)) {
      for (Path entry : entries.toList()) {
        String name = entry.getFileName().toString();
        if (name.matches(PREFIX + "\\d{1,18}")) {
          long number = Long.parseLong(name.substring(PREFIX.length()));
          found.add(new Found(number, Files.getLastModifiedTime(entry)));
        } else if (!name.equals(LIVE)) {
          TierFiles.delete(entry);
        }
      }
    }
    found.sort(Comparator.comparing(Found::time));
    return found.stream().map(Found::generation).toList();
  }

  /** The directory in use. */
  synchronized RocksDbDirectory live() {
    return live;
  }

  /**
   * The directory for a store, which closes it; opened again if the store before did.
   *
   * @throws IOException if it does not open
   */
  public synchronized RocksDbDirectory use() throws IOException {
    if (live.isClosed()) {
      live = RocksDbDirectory.open(root.resolve(LIVE));
    }
    return live;
  }

  /**
   * Makes a generation, once; blocks on the disk, for a flush and some hard links.
   *
   * @param checkpoint its number
   * @throws IOException if it cannot be made, or the directory was closed
   */
  public synchronized GenerationRef make(long checkpoint) throws IOException {
    GenerationRef known = refs.get(checkpoint);
    if (known != null) {
      return known;
    }
    deleteOld();
    Path path = path(root, checkpoint);
    TierFiles.delete(path);
    made.remove(checkpoint);
    complete.remove(checkpoint);
    failed.remove(checkpoint);
    live.copyTo(path);
    GenerationRef ref = new GenerationRef(engine, checkpoint, TierFiles.digest(path));
    made.addLast(checkpoint);
    refs.put(checkpoint, ref);
    return ref;
  }

  private void deleteOld() throws IOException {
    complete.retainAll(made);
    failed.retainAll(made);
    int kept = 0;
    int seen = 0;
    Set<Long> old = new HashSet<>();
    for (var newestFirst = made.descendingIterator(); newestFirst.hasNext(); ) {
      long generation = newestFirst.next();
      if (failed.contains(generation) || kept >= KEPT || seen >= MOST - 1) {
        old.add(generation);
      } else {
        seen++;
        kept += complete.contains(generation) ? 1 : 0;
      }
    }
    for (long generation : old) {
      TierFiles.delete(path(root, generation));
      made.remove(generation);
      refs.remove(generation);
      complete.remove(generation);
      failed.remove(generation);
    }
  }

  /** A checkpoint is complete; never waits. */
  public void complete(long checkpoint) {
    complete.add(checkpoint);
  }

  /** A checkpoint was given up; never waits. */
  public void failed(long checkpoint) {
    failed.add(checkpoint);
  }

  @Override
  public synchronized void close() {
    live.close();
  }
}
