package io.radixflow.lab.bench.tiers;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.kernels.device.Backend;
import io.radixflow.lab.traffic.EngineReply;
import io.radixflow.models.io.ScratchDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.apache.flink.util.FileUtils;

/**
 * Runs one turn of a conversation with the conversation's pages in each place.
 *
 * <p>The conversation's pages are public, and each turn's pages are in a new namespace. So each
 * turn finds the pages of the conversation and never the pages of other turns. A turn whose
 * conversation is not public finds nothing and pushes all other pages off the device.
 */
final class TierRounds implements AutoCloseable {
  /**
   * The share of the conversation that must come from the intended place. It is below 1, because
   * the device keeps a page or two.
   */
  private static final double LEAST_SHARE = 0.9;

  private final Supplier<Backend> backends;
  private final ServedModel model;
  private final Sizes sizes;
  private final ScratchDirectory root;
  private final int[] prompt;
  private final TenantKeys keys = new TenantKeys();
  private final TierTimes times = new TierTimes();
  private TierBench engine;
  private Path disk;
  private int restarts;
  private int turns;
  private boolean pageCacheCold = true;

  /**
   * Numbers of tokens.
   *
   * @param cached tokens of the conversation so far
   * @param fresh tokens of the new message
   * @param reply tokens of the reply
   */
  record Sizes(int cached, int fresh, int reply) {}

  /**
   * @param backends gives a new backend for each engine
   * @param directory directory of the disk's files; null for the system's directory for temporary
   *     files
   */
  TierRounds(Supplier<Backend> backends, ServedModel model, Sizes sizes, Path directory)
      throws IOException {
    this.backends = backends;
    this.model = model;
    this.sizes = sizes;
    this.prompt = new int[sizes.cached + sizes.fresh];
    this.root = ScratchDirectory.createIn(directory, "tiers");
    this.disk = root.path().resolve("disk-0");
  }

  TierTimes times() {
    return times;
  }

  boolean isPageCacheCold() {
    return pageCacheCold;
  }

  /** Opens the engine and runs the conversation so far twice, so that its pages go to the disk. */
  void begin() throws InterruptedException {
    SplittableRandom random = new SplittableRandom(1);
    Arrays.setAll(prompt, i -> random.nextInt(model.config().vocabSize()));
    open();
    int[] conversation = Arrays.copyOf(prompt, sizes.cached + 1);
    for (int i = 0; i < 2; i++) {
      engine.run("", conversation, 0, 1);
    }
    CliException.throwIf(
        engine.diskTokens() < engine.wholePages(sizes.cached),
        "the conversation's pages did not reach the disk");
  }

  private void open() {
    int context = sizes.cached + sizes.fresh + sizes.reply;
    engine = TierBench.open(backends.get(), model.tokenizer(), context, disk, keys);
  }

  /**
   * Runs the turn once for each place, and twice without cached pages.
   *
   * @param round decides the new message
   * @param counts whether the round is measured
   */
  void round(int round, boolean counts) throws IOException, InterruptedException {
    SplittableRandom random = new SplittableRandom(round);
    for (int i = sizes.cached; i < prompt.length; i++) {
      prompt[i] = random.nextInt(model.config().vocabSize());
    }
    int[] expected = turn(PagePlace.GONE, counts, null);
    turn(PagePlace.HOST, counts, expected);
    turn(PagePlace.DEVICE, counts, expected);
    turn(PagePlace.GONE, counts, expected);
    engine.flushHost();
    dropPageCache();
    turn(PagePlace.DISK, counts, expected);
    double opening = crash();
    if (counts) {
      times.addOpening(opening);
    }
    turn(PagePlace.RESTART, counts, expected);
  }

  private void dropPageCache() throws IOException, InterruptedException {
    pageCacheCold &= PageCache.drop(disk);
  }

  /** Opens an engine on a copy of the current files; returns seconds. */
  private double crash() throws IOException, InterruptedException {
    Path before = disk;
    disk = root.path().resolve("disk-" + ++restarts);
    CrashCopy.copy(before, disk);
    engine.close();
    FileUtils.deleteDirectory(before.toFile());
    dropPageCache();
    long start = System.nanoTime();
    open();
    return (System.nanoTime() - start) * 1e-9;
  }

  private int[] turn(PagePlace place, boolean counts, int[] expected) throws InterruptedException {
    int shared = place == PagePlace.GONE ? 0 : sizes.cached;
    EngineReply turn = engine.run("turn-" + turns++, prompt, shared, sizes.reply);
    int tokens = place.tokens(turn.usage());
    CliException.throwIf(
        tokens < LEAST_SHARE * engine.wholePages(sizes.cached),
        "of %d tokens only %d were %s: %s"
            .formatted(sizes.cached, tokens, place.text(), turn.usage()));
    CliException.throwIf(
        expected != null && !Arrays.equals(turn.tokens(), expected),
        "the reply with pages %s is %s and must be %s"
            .formatted(place.text(), Arrays.toString(turn.tokens()), Arrays.toString(expected)));
    if (counts) {
      times.add(place, turn.tokenSeconds());
    }
    return turn.tokens();
  }

  @Override
  public void close() throws IOException {
    if (engine != null) {
      engine.close();
    }
    root.close();
  }
}
