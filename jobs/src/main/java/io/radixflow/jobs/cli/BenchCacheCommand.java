package io.radixflow.jobs.cli;

import io.radixflow.jobs.cli.EngineBench.StepTime;
import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.cache.CacheOptions;
import io.radixflow.operators.cache.PrefixCaching;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineOptions;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What the radix cache costs where it saves nothing. */
@Command(
    name = "cache",
    description = {
      "Measure what the radix cache costs on a workload without reuse: an engine step with the cache"
          + " against one without.",
      "Each round runs both engines over the same random prompts; the pool is small, so that the"
          + " cache evicts all the time. The whole step's time varies with what else the machine"
          + " does; the CPU time of the engine's own thread, which does all that the cache adds,"
          + " varies far less."
    })
final class BenchCacheCommand extends CliCommand {
  private static final int PROMPT = 128;
  private static final int REPLY = 64;

  @Mixin ModelOptions modelOptions;
  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "16",
      description = "Requests of a round (default: ${DEFAULT-VALUE}).")
  int requests;

  @Option(
      names = "--batch",
      paramLabel = "N",
      defaultValue = "8",
      description = "Requests at once (default: ${DEFAULT-VALUE}).")
  int batch;

  BenchCacheCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (requests < 1 || batch < 1 || batch > EngineOptions.DEFAULT.stepRows()) {
      throw new CliException(
          "--requests must be at least 1, --batch 1 to " + EngineOptions.DEFAULT.stepRows());
    }
    CacheCost cost = new CacheCost();
    try (ServedModel model = modelOptions.open(this);
        Engine cached = open(model, true);
        Engine plain = open(model, false);
        Progress progress = progress("measuring")) {
      int vocabSize = model.config().vocabSize();
      EngineBench with = new EngineBench(cached, vocabSize, PROMPT, REPLY);
      EngineBench without = new EngineBench(plain, vocabSize, PROMPT, REPLY);
      for (int round = -1; round < rounds.count(); round++) {
        progress.detail("round " + Math.max(0, round + 1) + " of " + rounds.count());
        boolean cacheFirst = round % 2 == 0;
        StepTime first = (cacheFirst ? with : without).run(requests, batch, round);
        StepTime second = (cacheFirst ? without : with).run(requests, batch, round);
        if (round >= 0) {
          cost.add(cacheFirst ? first : second, cacheFirst ? second : first);
        }
      }
    }
    cost.print(out());
    report.write(this, cost.json());
    return 0;
  }

  private Engine open(ServedModel model, boolean radixCache) {
    int pages = 2 * batch * ((PROMPT + REPLY) / EngineOptions.DEFAULT.pageTokens() + 1);
    EngineOptions options =
        EngineOptions.builder()
            .kvPages(pages)
            .cache(
                CacheOptions.DEFAULT.withCaching(
                    radixCache ? PrefixCaching.RADIX : PrefixCaching.NAIVE))
            .maxRunning(batch)
            .maxWaiting(requests)
            .build();
    return ContinuousBatchingEngine.open(
        modelOptions.openBackend(this, model), model.tokenizer(), options);
  }
}
