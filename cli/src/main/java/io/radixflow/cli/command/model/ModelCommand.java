package io.radixflow.cli.command.model;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineInfo;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.kernels.cpu.weights.WeightFiles;
import io.radixflow.kernels.cuda.CudaSupport;
import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.models.Attention;
import io.radixflow.models.FeedForward;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.file.ModelFile;
import io.radixflow.text.TextModel;
import io.radixflow.text.reply.ReplyFormat;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the model that these options select. */
@Command(
    name = "model",
    description = {
      "Show the model that these options select: its source, its shape, the size of a token in "
          + "the KV cache, its numerics epoch, and what fits in memory.",
      "Fetches the model if necessary. Lists the files of repacked weights, which CPUs map."
    })
public final class ModelCommand extends CliCommand {
  @Mixin ModelOptions modelOptions;

  @Option(
      names = "--prune",
      description =
          "Only delete the files of repacked weights that no process uses. The next start of a"
              + " model writes its file again.")
  boolean prune;

  ModelCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    if (prune) {
      showFiles("deleted", WeightFiles.ofUser(0).prune());
      return 0;
    }
    LocatedModel located = modelOptions.locate(this, modelOptions.model);
    line("from", located.location() + " (" + located.source() + ")");
    if (!ModelLoader.isSimulated(located.location())) {
      Path path = Path.of(located.location());
      line("size", memory(ModelFile.bytes(path)));
      line("format", ModelFile.summary(path));
      out().flush();
    }
    try (ServedModel model = open(located)) {
      line("model", model.name());
      line("shape", shape(model.config()));
      showText(model.tokenizer(), model.chatTemplate());
      line("sampling", model.text().samplingDefaults().toString());
      model.heapNeeds().ifPresent(needs -> showHeap(needs, MemorySource.system().now()));
      showGpu(model);
      out().flush();
      Backend backend = modelOptions.openBackend(this, model);
      KvSpec kvSpec = backend.kvSpec();
      try (Engine engine =
          ContinuousBatchingEngine.open(backend, model.tokenizer(), EngineOptions.DEFAULT)) {
        showEngine(engine.info(), engine.stats().pool().windows().total(), kvSpec);
      }
    }
    showFiles("weight file", WeightFiles.ofUser(0).list());
    return 0;
  }

  private void showFiles(String name, List<WeightFiles.Entry> entries) {
    Instant now = Instant.now();
    entries.forEach(entry -> line(name, WeightFileLines.of(entry, now)));
    out().flush();
  }

  /** Opens a model. If it is not supported, shows the parts that are supported. */
  private ServedModel open(LocatedModel located) throws IOException {
    try {
      return located.open();
    } catch (ModelFormatException e) {
      showPart("weights", e, () -> showShape(Path.of(located.location())));
      showPart(
          "tokenizer",
          e,
          () -> {
            TextModel text = located.openText();
            showText(text.tokenizer(), text.chatTemplate());
          });
      out().flush();
      throw e;
    }
  }

  private interface Part {
    void show() throws IOException;
  }

  /**
   * Shows a part of the model, or why it is not supported. Shows no reason if {@code reported} will
   * be reported anyway.
   */
  private void showPart(String name, ModelFormatException reported, Part part) throws IOException {
    try {
      part.show();
    } catch (ModelFormatException e) {
      if (!e.getMessage().equals(reported.getMessage())) {
        line(name, "not supported: " + e.getMessage());
      }
    }
  }

  private void showShape(Path path) {
    try (ModelFile file = ModelFile.open(path)) {
      line("shape", shape(file.config()));
    }
  }

  private void showText(Tokenizer tokenizer, ChatTemplate template) {
    line("tokenizer", tokenizer.vocabSize() + " tokens");
    ReplyFormat format = ReplyFormat.of(template.source());
    String calls = "calls of functions as " + format.tools().name().toLowerCase(Locale.ROOT);
    String reasoning =
        format.reasoning() == null ? "" : ", reasoning behind " + format.reasoning().open();
    line("chat template", template.source().isEmpty() ? "none" : calls + reasoning);
  }

  /** Shows the memory that the model takes on a CPU, and the heap that is left for the KV pool. */
  private void showHeap(MemoryNeeds needs, MemoryStatus memory) {
    line(
        "weights",
        memory(needs.weightBytes()) + " in memory, " + memory(needs.fileBytes()) + " in the file");
    line("in memory by type", needs.types());
    line("work space", "about " + memory(needs.workBytes()));
    line("outside the heap", memory(needs.outsideBytes()) + " of weights and work space");
    line("memory", memory.text());
    long left = needs.leaves(memory);
    boolean fits = left > 0 && needs.leavesOutside(memory) >= 0;
    line("on the CPU", fits ? "fits; leaves " + memory(left) + " of heap" : "does not fit");
    long beside = needs.leavesOutside(memory);
    line("off heap", memory(Math.max(0, beside)) + " if the heap takes all it may");
  }

  private void showGpu(ServedModel model) {
    try {
      model.gpuNeeds().ifPresent(this::showGpu);
    } catch (IllegalArgumentException e) {
      line("on a GPU", e.getMessage());
    }
  }

  private void showGpu(MemoryNeeds needs) {
    List<CudaDevice> gpus = CudaSupport.probe().devices();
    String weights =
        memory(needs.weightBytes())
            + " of weights, about "
            + memory(needs.workBytes())
            + " of work space";
    if (gpus.isEmpty()) {
      line("on a GPU", weights + "; there is none");
    }
    for (CudaDevice gpu : gpus) {
      long left = gpu.totalMemory() - needs.weightBytes() - needs.workBytes();
      line(
          "on GPU " + gpu.ordinal(),
          weights
              + (left > 0
                  ? "; fits, leaves at most " + memory(left)
                  : "; does not fit its " + memory(gpu.totalMemory())));
    }
  }

  private void showEngine(EngineInfo info, int windowParts, KvSpec kvSpec) {
    long tokenBytes = kvSpec.bytesPerToken();
    long partBytes = windowParts == 0 ? 0 : kvSpec.windowBytesPerToken();
    long bytes =
        info.pageTokens() * (info.pages() * (tokenBytes - partBytes) + windowParts * partBytes);
    long tokens = (long) info.pages() * info.pageTokens();
    line("backend", info.backend());
    line("KV cache", tokenBytes + " bytes per token" + kinds(kvSpec));
    line(
        "KV pool",
        String.format(
            Locale.ROOT,
            "%d pages of %d tokens%s, %s: %d tokens, %.1f contexts of %d",
            info.pages(),
            info.pageTokens(),
            windowParts == 0 ? "" : ", " + windowParts + " of them with all layers",
            memory(bytes),
            tokens,
            (double) tokens / info.contextLength(),
            info.contextLength()));
    line("numerics epoch", info.numericsEpoch());
    out().flush();
  }

  /** Returns the memory of the layers of each kind, if there are several kinds. */
  private static String kinds(KvSpec kvSpec) {
    if (kvSpec.groups().size() == 1 && kvSpec.groups().get(0).kind().equals("full")) {
      return "";
    }
    return kvSpec.groups().stream()
        .map(group -> group.layers() + " layers " + group.kind() + ": " + group.bytesPerToken())
        .collect(Collectors.joining("; ", " (", ")"));
  }

  private static String shape(ModelConfig config) {
    return String.format(
        Locale.ROOT,
        "%s: %d layers, hidden %d, %s, %d heads, %s, vocabulary %d, context %d",
        config.architecture(),
        config.layers(),
        config.hiddenSize(),
        feedForward(config),
        config.heads(),
        keysAndValues(config.layer(0).attention()),
        config.vocabSize(),
        config.contextLength());
  }

  private static String feedForward(ModelConfig config) {
    FeedForward last = config.layer(config.layers() - 1).feedForward();
    return last instanceof FeedForward.Experts experts
        ? String.format(
            Locale.ROOT,
            "%d of %d experts of %d",
            experts.chosen(),
            experts.count(),
            experts.expert().width())
        : "MLP " + config.intermediateSize();
  }

  private static String keysAndValues(Attention attention) {
    return attention instanceof Attention.Latent latent
        ? "latent KV of " + latent.keyWidth()
        : String.format(
            Locale.ROOT, "%d KV heads of %d", attention.kvHeads(), attention.keyWidth());
  }

  /** Formats bytes in the form of options such as engine.kv-memory. */
  private static String memory(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / (double) (1 << 20));
  }

  private void line(String name, String value) {
    print("%-18s%s%n", name, value);
  }
}
