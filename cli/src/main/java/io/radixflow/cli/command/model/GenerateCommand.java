package io.radixflow.cli.command.model;

import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.device.Backend;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Generates replies to conversations with the engine. */
@Command(
    name = "generate",
    description = {
      "Generate replies: JSON lines in, JSON lines out.",
      "{\"messages\", …} gives {\"ids\",\"text\",\"finish_reason\",\"usage\"};"
          + " {\"turns\":[{\"user\"} …], …} gives {\"turns\":[{\"ids\", …} …]}.",
      "Options of a line: temperature (0 if not given), top_k, top_p, min_p, repetition_penalty,"
          + " presence_penalty, frequency_penalty, logit_bias, seed, stop, max_tokens (512),"
          + " logprobs, top_logprobs, ignore_eos."
    })
public final class GenerateCommand extends ServedModelCommand {
  @Option(names = "--batch", paramLabel = "N", description = "Lines to answer at the same time.")
  int batch = 8;

  @Option(names = "--no-cache", description = "Turn the radix cache off.")
  boolean noCache;

  @Option(
      names = "--kv-pages",
      paramLabel = "N",
      description = "Pages of the KV pool; 0 sizes it by the available memory.")
  int kvPages = 0;

  @Option(
      names = "--chunk",
      paramLabel = "N",
      description = "Prompt tokens of a request in one step.")
  int chunk = 256;

  GenerateCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  void answer(ServedModel model, JsonLineInput input, JsonLineOutput output)
      throws IOException, InterruptedException {
    if (batch < 1) {
      throw new CliException("--batch is " + batch + "; it must be at least 1");
    }
    List<JsonLineInput.Line> lines = input.all();
    Backend backend = modelOptions.openBackend(this, model);
    try (Engine engine =
            ContinuousBatchingEngine.open(backend, model.tokenizer(), engineOptions());
        Progress progress = progress(spec.name())) {
      new GenerateRun(engine, model, lines).run(batch, output, progress);
    }
  }

  private EngineOptions engineOptions() {
    int rows = Math.max(chunk, EngineOptions.DEFAULT.stepRows());
    return EngineOptions.builder()
        .kvPages(kvPages)
        .cache(
            CacheOptions.DEFAULT.withCaching(noCache ? PrefixCaching.NAIVE : PrefixCaching.RADIX))
        .stepRows(rows)
        .prefillChunk(chunk)
        .maxRunning(Math.min(batch, rows))
        .maxWaiting(Math.max(2 * batch, EngineOptions.DEFAULT.maxWaiting()))
        .build();
  }
}
