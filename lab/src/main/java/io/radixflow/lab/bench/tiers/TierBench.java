package io.radixflow.lab.bench.tiers;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequest.PromptSource;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.WritePolicy;
import io.radixflow.engine.tier.disk.DiskStore;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.kernels.device.Backend;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.EngineReply;
import io.radixflow.lab.traffic.EngineTarget;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * An engine whose device has room for one conversation, with host memory and a disk below it.
 *
 * <p>Pages of a conversation that ran twice are copied down. Pages of a conversation that ran once
 * are not copied ({@link WritePolicy#WRITE_THROUGH_SELECTIVE}), so that they can push other pages
 * off the device and leave no trace. A stored page is always loaded, even if computing it would be
 * faster.
 */
final class TierBench implements AutoCloseable {
  /**
   * Room for several conversations, because the store takes a quarter of the host's pages at a
   * time.
   */
  private static final int HOST_CONVERSATIONS = 5;

  private static final int DISK_CONVERSATIONS = 16;
  private static final long MIN_DISK_BYTES = 32 << 20;
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private final ContinuousBatchingEngine engine;
  private final EngineTarget turns;

  private TierBench(ContinuousBatchingEngine engine) {
    this.engine = engine;
    this.turns = new EngineTarget(engine);
  }

  /**
   * Opens an engine.
   *
   * @param backend the backend, which the engine then owns
   * @param context tokens of the conversation
   * @param directory directory of the disk tier
   * @param keys keys that encrypt its pages
   */
  static TierBench open(
      Backend backend, Tokenizer tokenizer, int context, Path directory, TenantKeys keys) {
    int pageTokens = EngineOptions.DEFAULT.pageTokens();
    int pages = (context + pageTokens - 1) / pageTokens + 2;
    long bytes = pages * pageTokens * backend.kvSpec().bytesPerToken();
    long diskBytes = Math.max(MIN_DISK_BYTES, DISK_CONVERSATIONS * bytes);
    TierOptions tiers =
        TierOptions.NONE
            .withHostBytes(HOST_CONVERSATIONS * bytes)
            .withWritePolicy(WritePolicy.WRITE_THROUGH_SELECTIVE)
            .withLoadBackThreshold(1)
            .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1)
            .withStore((epoch, size) -> store(directory, diskBytes, epoch, size, keys), null);
    return new TierBench(
        ContinuousBatchingEngine.open(
            backend,
            tokenizer,
            EngineOptions.builder().kvPages(pages).contextLength(context).tiers(tiers).build()));
  }

  private static PageStore store(
      Path directory, long limitBytes, String epoch, PageSizes sizes, TenantKeys keys) {
    try {
      return DiskStore.open(directory, DiskTierOptions.of(limitBytes), epoch, sizes, keys);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs a turn with the current contents of the device.
   *
   * @param namespace namespace of all pages of the prompt except the public pages
   * @param publicTokens tokens whose pages the prompt shares with all other namespaces
   */
  EngineReply run(String namespace, int[] prompt, int publicTokens, int replyTokens)
      throws InterruptedException {
    EngineRequest request =
        EngineRequest.builder("bench", source(prompt, publicTokens), replyTokens)
            .namespace(namespace)
            .ignoreEndOfTurn(true)
            .build();
    EngineReply turn = turns.run(request);
    settle();
    return turn;
  }

  private static PromptSource source(int[] prompt, int publicTokens) {
    return new PromptSource() {
      @Override
      public int[] ids() {
        return prompt;
      }

      @Override
      public int publicTokens() {
        return publicTokens;
      }
    };
  }

  /** Evicts all pages of host memory; the disk keeps its own. */
  void flushHost() throws InterruptedException {
    CliException.throwIf(
        !Driver.await(engine.onTiers(tiers -> tiers.switches().flush())),
        "host memory could not be emptied");
    settle();
  }

  /** Rounds a number of tokens down to whole pages. */
  int wholePages(int tokens) {
    int pageTokens = engine.info().pageTokens();
    return tokens / pageTokens * pageTokens;
  }

  /** Returns the number of tokens whose pages are on disk. */
  long diskTokens() {
    PageStoreStats stats = engine.stats().tiers().store();
    return stats == null ? 0 : stats.pages() * engine.info().pageTokens();
  }

  /** Waits until no request runs and no page is being copied. */
  private void settle() throws InterruptedException {
    long start = System.nanoTime();
    for (EngineStats stats = engine.stats();
        stats.scheduler().runningRequests() > 0 || stats.tiers().queuedPages() > 0;
        stats = engine.stats()) {
      CliException.throwIf(
          System.nanoTime() - start > PATIENCE_NANOS,
          "pages were still on their way after two minutes: " + stats);
      TimeUnit.MILLISECONDS.sleep(1);
    }
  }

  @Override
  public void close() {
    turns.close();
    engine.close();
  }
}
