package io.radixflow.lab.bench;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.lab.bench.EngineBench.StepTime;
import io.radixflow.lab.traffic.ConversationSource;
import java.io.IOException;
import org.apache.flink.configuration.MemorySize;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures what the radix cache, or the tiers below it, cost a workload without reuse. */
@Command(
    name = "cache",
    description = {
      "Measure what the radix cache costs on a workload without reuse: an engine step with the"
          + " cache against one without.",
      "Each round runs both engines over the same random prompts; the pool is small, so that the"
          + " cache evicts all the time. Runs with and without take turns, and each round gives one"
          + " ratio. The whole step's time varies with what else the machine does; the CPU time of"
          + " the process, and that of the engine's own thread, vary far less.",
      "With --host-memory it is what the tiers cost instead: an engine that copies each page to"
          + " host memory as it is computed, against one with the cache alone."
    })
public final class BenchCacheCommand extends CliCommand {
  private static final int PROMPT = 128;
  private static final int REPLY = 64;

  /**
   * After this number of rounds both engines are opened again, in the other order, because the
   * place of their memory makes more of a difference than the measured change.
   */
  private static final int ROUNDS_OF_A_PAIR = 8;

  @Mixin BenchOptions common;

  @Option(names = "--requests", paramLabel = "N", description = "Requests of a round.")
  int requests = 16;

  @Option(names = "--batch", paramLabel = "N", description = "Requests at once.")
  int batch = 8;

  @Option(
      names = "--host-memory",
      paramLabel = "SIZE",
      defaultValue = "0",
      converter = ModelOptions.Memory.class,
      description = "Host memory of the tiers, such as 1gb; 0 measures the cache.")
  MemorySize hostMemory;

  BenchCacheCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (requests < 1 || batch < 1 || batch > EngineOptions.DEFAULT.stepRows()) {
      throw new CliException(
          "--requests must be at least 1, --batch 1 to " + EngineOptions.DEFAULT.stepRows());
    }
    CacheCost cost = new CacheCost(tiers() ? "tiers" : "cache");
    try (ServedModel model = common.model.open(this)) {
      for (int round = 0; round < common.rounds.count(); round += ROUNDS_OF_A_PAIR) {
        measure(model, round, Math.min(common.rounds.count(), round + ROUNDS_OF_A_PAIR), cost);
      }
    }
    cost.print(out());
    common.report.write(this, cost.json());
    return 0;
  }

  /** Opens both engines and measures rounds {@code from .. to-1}, after one to warm up. */
  private void measure(ServedModel model, int from, int to, CacheCost cost)
      throws InterruptedException {
    boolean measuredFirst = from / ROUNDS_OF_A_PAIR % 2 == 0;
    try (EngineBench one = open(model, measuredFirst);
        EngineBench other = open(model, !measuredFirst);
        Progress progress = progress("measuring")) {
      EngineBench with = measuredFirst ? one : other;
      EngineBench without = measuredFirst ? other : one;
      for (int round : common.rounds.some(progress, from, to)) {
        boolean withFirst = round % 2 == 0;
        StepTime first = (withFirst ? with : without).run(requests, batch, round);
        StepTime second = (withFirst ? without : with).run(requests, batch, round);
        if (round >= from) {
          cost.add(withFirst ? first : second, withFirst ? second : first);
        }
      }
    }
  }

  private boolean tiers() {
    return hostMemory.getBytes() > 0;
  }

  /**
   * @param measured whether the engine has the part that is measured
   */
  private EngineBench open(ServedModel model, boolean measured) {
    int pages = 2 * batch * ((PROMPT + REPLY) / EngineOptions.DEFAULT.pageTokens() + 1);
    EngineOptions options =
        EngineOptions.builder()
            .kvPages(pages)
            .cache(
                CacheOptions.DEFAULT.withCaching(
                    measured || tiers() ? PrefixCaching.RADIX : PrefixCaching.NAIVE))
            .tiers(TierOptions.NONE.withHostBytes(measured ? hostMemory.getBytes() : 0))
            .maxRunning(batch)
            .maxWaiting(requests)
            .build();
    int vocabSize = model.config().vocabSize();
    return new EngineBench(
        common.openEngine(this, model, options),
        random -> ConversationSource.random(random, vocabSize, PROMPT, REPLY));
  }
}
