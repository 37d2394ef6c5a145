package io.radixflow.lab.bench;

import io.radixflow.operators.tier.DiskStore;
import io.radixflow.operators.tier.DiskStoreOptions;
import io.radixflow.operators.tier.GenerationRef;
import io.radixflow.operators.tier.LocalTiers;
import io.radixflow.operators.tier.PageId;
import io.radixflow.operators.tier.PageStore;
import io.radixflow.operators.tier.TierPage;
import io.radixflow.tools.cli.common.CliException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import org.apache.flink.util.FileUtils;

/** A disk tier of made-up pages, as an engine has it, and checkpoints of its page directory. */
final class DiskBench implements AutoCloseable {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final String KIND = "bench";
  private static final int CHAIN = 100;
  private static final int RECORD_BYTES = 512;
  private static final int BATCH = 1000;

  private final Path root;
  private final int pageBytes;
  private final long limit;
  private final ExecutorService background = Executors.newSingleThreadExecutor();
  private final SplittableRandom random = new SplittableRandom(1);
  private LocalTiers tiers;
  private PageStore store;
  private PageId last;
  private int written;
  private GenerationRef earlier;
  private GenerationRef latest;

  /**
   * What a checkpoint took.
   *
   * @param mailbox seconds of the calls that an operator makes on its mailbox's thread
   * @param mailboxCpu seconds that this thread computed meanwhile
   * @param background seconds of making the copy, on another thread
   */
  record Checkpoint(double mailbox, double mailboxCpu, double background) {}

  /**
   * @param root empty; deleted by {@link #close}
   * @param pages that will be written at most
   */
  DiskBench(Path root, int pageBytes, long pages) {
    this.root = root;
    this.pageBytes = pageBytes;
    this.limit = Math.max(64 << 20, 2 * pages * (pageBytes + RECORD_BYTES));
  }

  /** Opens the store; returns the seconds that it took. */
  double open(List<GenerationRef> restored) throws IOException {
    long begun = System.nanoTime();
    tiers = LocalTiers.open(root, KIND, restored);
    store =
        DiskStore.open(
            DiskStoreOptions.of(tiers.home().segments().toString(), limit),
            KIND,
            pageBytes,
            tiers.generations().use());
    return (System.nanoTime() - begun) * 1e-9;
  }

  /** Closes the store and opens it again as it was left. */
  double openAgain() throws IOException {
    stop();
    return check(open(List.of()));
  }

  /** The same, from the checkpoint before the last. */
  double openEarlier() throws IOException {
    stop();
    return check(open(List.of(earlier)));
  }

  /** The same, after its directory was lost. */
  double openWithoutDirectory() throws IOException {
    Path directory = tiers.home().directory();
    stop();
    FileUtils.deleteDirectory(directory.toFile());
    return check(open(List.of()));
  }

  private double check(double seconds) {
    long found = store.stats().pages();
    if (found != written) {
      throw new CliException("of " + written + " pages the store has found " + found);
    }
    return seconds;
  }

  /** Writes pages of conversations. */
  void write(int count) {
    for (int from = 0; from < count; from += BATCH) {
      int size = Math.min(BATCH, count - from);
      TierPage[] pages = new TierPage[size];
      ByteBuffer[] bytes = new ByteBuffer[size];
      for (int i = 0; i < size; i++) {
        PageId id =
            new PageId(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
        pages[i] = new TierPage(id, (written + i) % CHAIN == 0 ? null : last, "", 0);
        bytes[i] = ByteBuffer.allocate(pageBytes);
        last = id;
      }
      store.write(pages, bytes, size);
      written += size;
    }
  }

  /** What the operator does for a checkpoint, and for the one before that is complete meanwhile. */
  Checkpoint checkpoint(long number) throws InterruptedException {
    double[] own = new double[1];
    long cpu = THREADS.getCurrentThreadCpuTime();
    long begun = System.nanoTime();
    FutureTask<GenerationRef> copy =
        new FutureTask<>(
            () -> {
              long start = System.nanoTime();
              GenerationRef made = tiers.generations().make(number);
              own[0] = (System.nanoTime() - start) * 1e-9;
              return made;
            });
    background.execute(copy);
    tiers.generations().complete(number - 1);
    double mailbox = (System.nanoTime() - begun) * 1e-9;
    double mailboxCpu = (THREADS.getCurrentThreadCpuTime() - cpu) * 1e-9;
    try {
      earlier = latest;
      latest = copy.get();
    } catch (ExecutionException e) {
      throw new CliException("the page directory was not copied: " + e.getCause().getMessage());
    }
    return new Checkpoint(mailbox, mailboxCpu, own[0]);
  }

  private void stop() {
    if (store != null) {
      store.close();
      tiers.close();
      store = null;
    }
  }

  @Override
  public void close() {
    background.shutdownNow();
    stop();
    FileUtils.deleteDirectoryQuietly(root.toFile());
  }
}
