package io.radixflow.lab.bench.tiers;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.engine.tier.disk.DiskStore;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.TenantKeys;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.flink.util.FileUtils;

/** A disk tier like an engine's, with made-up pages. */
final class DiskBench implements AutoCloseable {
  private static final String EPOCH = "bench";

  /** Pages of a conversation. */
  static final int CHAIN = 100;

  private static final long OVERHEAD_BYTES = 1_000;
  private static final long LEAST_BYTES = 256L << 20;

  private final Path root;
  private final int pageBytes;
  private final long limit;
  private final TenantKeys keys = new TenantKeys();
  private final SplittableRandom random = new SplittableRandom(1);
  private final PageId[] chain = new PageId[CHAIN];
  private final String[] namespaces = new String[CHAIN];
  private final ByteBuffer[] bytes = new ByteBuffer[CHAIN];
  private Path directory;
  private PageStore store;
  private int crashes;
  private long written;

  /**
   * Creates a bench without files.
   *
   * @param root an empty directory; {@link #close} deletes it
   * @param pages the most pages that will be written
   */
  DiskBench(Path root, int pageBytes, long pages) {
    this.root = root;
    this.directory = root.resolve("disk-0");
    this.pageBytes = pageBytes;
    this.limit = Math.max(LEAST_BYTES, 2 * pages * (pageBytes + OVERHEAD_BYTES));
    Arrays.fill(namespaces, "");
    Arrays.setAll(bytes, i -> ByteBuffer.allocate(pageBytes));
  }

  /** Opens the store; returns the duration in seconds. */
  double open() throws IOException {
    long begun = System.nanoTime();
    store =
        DiskStore.open(directory, DiskTierOptions.of(limit), EPOCH, PageSizes.of(pageBytes), keys);
    double seconds = seconds(begun);
    CliException.throwIf(
        store.stats().pages() != written,
        "of " + written + " pages the store has found " + store.stats().pages());
    return seconds;
  }

  /** Closes the store and opens it again; returns the duration of opening in seconds. */
  double openAgain() throws IOException {
    stop();
    return open();
  }

  /** Opens a store on a copy of the files of the running store; returns the duration in seconds. */
  double openAfterCrash() throws IOException {
    Path copy = root.resolve("disk-" + ++crashes);
    CrashCopy.copy(directory, copy);
    stop();
    FileUtils.deleteDirectory(directory.toFile());
    directory = copy;
    return open();
  }

  /** Writes the pages of a conversation; returns the duration in seconds. */
  double write() {
    TierPage[] pages = new TierPage[CHAIN];
    for (int i = 0; i < CHAIN; i++) {
      chain[i] =
          new PageId(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
      pages[i] = new TierPage(chain[i], i == 0 ? null : chain[i - 1], "", 0);
    }
    long begun = System.nanoTime();
    CliException.throwIf(store.write(pages, bytes, CHAIN) > 0, "pages could not be written");
    written += CHAIN;
    return seconds(begun);
  }

  /** Looks up the pages of the last conversation; returns the duration in seconds. */
  double find() {
    long begun = System.nanoTime();
    check(store.find(chain, 0, CHAIN));
    return seconds(begun);
  }

  /** Reads the pages of the last conversation; returns the duration in seconds. */
  double read() {
    long begun = System.nanoTime();
    check(store.read(chain, namespaces, 0, CHAIN, bytes));
    return seconds(begun);
  }

  private static void check(int found) {
    CliException.throwIf(
        found != CHAIN, "of " + CHAIN + " pages of a conversation " + found + " were found");
  }

  private static double seconds(long since) {
    return (System.nanoTime() - since) * 1e-9;
  }

  private void stop() {
    if (store != null) {
      store.close();
      store = null;
    }
  }

  @Override
  public void close() {
    stop();
    FileUtils.deleteDirectoryQuietly(root.toFile());
  }
}
