package io.radixflow.tools.cli.model;

import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineInfo;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.engine.loop.ContinuousBatchingEngine;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.LocatedModel;
import io.radixflow.tools.cli.common.ModelOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the model that would be used. */
@Command(
    name = "model",
    description = {
      "Show the model that would be used, where it is from, its shape, what a token of KV cache takes,"
          + " its numerics epoch, and what fits in memory.",
      "Fetches the model if need be."
    })
public final class ModelCommand extends CliCommand {
  @Mixin ModelOptions modelOptions;

  ModelCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    LocatedModel located = modelOptions.locate(this, modelOptions.model);
    try (ServedModel model = located.open()) {
      line("model", model.name());
      line("from", located.location() + " (" + located.source() + ")");
      if (!ModelLoader.isSimulated(located.location())) {
        line("size", megabytes(size(Path.of(located.location()))));
      }
      line("shape", shape(model.config()));
      Backend backend = modelOptions.openBackend(this, model);
      long tokenBytes = backend.kvSpec().bytesPerToken();
      try (Engine engine =
          ContinuousBatchingEngine.open(backend, model.tokenizer(), EngineOptions.DEFAULT)) {
        showEngine(engine.info(), tokenBytes);
      }
    }
    return 0;
  }

  private void showEngine(EngineInfo info, long tokenBytes) {
    long tokens = (long) info.pages() * info.pageTokens();
    line("backend", info.backend());
    line("KV cache", tokenBytes + " bytes a token");
    line(
        "in memory",
        String.format(
            Locale.ROOT,
            "%d pages of %d tokens, %s: %d tokens, %.1f contexts of %d",
            info.pages(),
            info.pageTokens(),
            memory(tokens * tokenBytes),
            tokens,
            (double) tokens / info.contextLength(),
            info.contextLength()));
    line("heap", memory(Runtime.getRuntime().maxMemory()));
    line("numerics epoch", info.numericsEpoch());
    out().flush();
  }

  private static String shape(ModelConfig config) {
    return String.format(
        Locale.ROOT,
        "%s: %d layers, hidden %d, MLP %d, %d heads of %d, %d KV heads, vocabulary %d, context %d",
        config.architecture(),
        config.layers(),
        config.hiddenSize(),
        config.intermediateSize(),
        config.heads(),
        config.headDim(),
        config.kvHeads(),
        config.vocabSize(),
        config.contextLength());
  }

  private static long size(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      return Files.size(path);
    }
    try (Stream<Path> files = Files.list(path)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }

  /** Formats bytes as options such as engine.kv-memory do. */
  private static String memory(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (double) (1 << 20));
  }

  private void line(String name, String value) {
    print("%-16s%s%n", name, value);
  }
}
