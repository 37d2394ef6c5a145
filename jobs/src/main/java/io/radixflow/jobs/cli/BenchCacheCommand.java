package io.radixflow.jobs.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.cache.CacheOptions;
import io.radixflow.operators.cache.PrefixCaching;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineOptions;
import java.io.IOException;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What the radix cache costs where it saves nothing. */
@Command(
    name = "cache",
    description = {
      "Measure what the radix cache costs on a workload without reuse: the time of an engine step"
          + " with the cache, over the time without.",
      "Each round runs both engines over the same random prompts; the pool is small, so that the"
          + " cache evicts all the time."
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
    Samples ratios = new Samples();
    Samples with = new Samples();
    Samples without = new Samples();
    try (ServedModel model = modelOptions.open(this);
        Engine cached = open(model, true);
        Engine plain = open(model, false);
        Progress progress = progress("measuring")) {
      EngineBench bench = new EngineBench(model.config().vocabSize(), PROMPT, REPLY);
      for (int round = -1; round < rounds.count(); round++) {
        progress.detail("round " + Math.max(0, round + 1) + " of " + rounds.count());
        double first =
            bench.secondsPerStep(round % 2 == 0 ? cached : plain, requests, batch, round);
        double second =
            bench.secondsPerStep(round % 2 == 0 ? plain : cached, requests, batch, round);
        if (round >= 0) {
          with.add(round % 2 == 0 ? first : second);
          without.add(round % 2 == 0 ? second : first);
          ratios.add(round % 2 == 0 ? first / second : second / first);
        }
      }
    }
    show(ratios, with, without);
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

  private void show(Samples ratios, Samples with, Samples without) throws IOException {
    out().printf("%-22s %9s %9s %9s%n", "", "min", "median", "max");
    line("step with cache, us", with, 1e6);
    line("step without, us", without, 1e6);
    line("ratio", ratios, 1);
    ObjectNode json = JsonLineOutput.object();
    with.putInto(json.putObject("seconds_with_cache"));
    without.putInto(json.putObject("seconds_without_cache"));
    ratios.putInto(json.putObject("ratio"));
    report.write(this, json);
  }

  private void line(String name, Samples samples, double factor) {
    String format = factor == 1 ? "%-22s %9.4f %9.4f %9.4f%n" : "%-22s %9.1f %9.1f %9.1f%n";
    out()
        .printf(
            Locale.ROOT,
            format,
            name,
            samples.min() * factor,
            samples.median() * factor,
            samples.max() * factor);
  }
}
