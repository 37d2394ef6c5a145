package io.radixflow.jobs.cli;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.model.hub.ConsoleProgress;
import io.radixflow.kernels.model.hub.ModelProgress;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that choose a model and how it is put on a device. */
final class ModelOptions {
  @Option(
      names = "--model",
      paramLabel = "MODEL",
      defaultValue = "${env:RADIXFLOW_MODEL:-SmolLM2-135M-Instruct}",
      description = {
        "A GGUF file, a Hugging Face directory, a hub name, or 'sim'",
        "(default: ${DEFAULT-VALUE}; environment: RADIXFLOW_MODEL)."
      })
  String model;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      defaultValue = "auto",
      converter = Device.class,
      completionCandidates = Device.class,
      description = "One of ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
  String device;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "0",
      description = "Compute threads; 0 leaves a core to others where there are more than two.")
  int threads;

  @Option(
      names = "--kv-type",
      paramLabel = "TYPE",
      defaultValue = "f32",
      converter = KvType.class,
      completionCandidates = KvType.class,
      description = "KV cache element type, f32 or f16 (default: ${DEFAULT-VALUE}).")
  KvSpec.Type kvType;

  @Option(
      names = "--offline",
      description = "Never use the network for a model (environment: RADIXFLOW_OFFLINE=1).")
  boolean offline;

  /** Finds the model, fetching it with a progress bar if need be. */
  LocatedModel locate(CliCommand command, String name) throws IOException {
    ModelProgress transfer =
        new ConsoleProgress(command.err(), command.environment.terminal(), System::nanoTime);
    return command.environment.models().locate(name, offline, transfer);
  }

  /** Finds and opens the model, with progress. */
  ServedModel open(CliCommand command) throws IOException {
    check();
    LocatedModel located = locate(command, model);
    try (Progress progress = command.progress("opening " + model)) {
      return located.open();
    }
  }

  /** Puts an open model on its device, with progress. */
  Backend openBackend(CliCommand command, ServedModel served) {
    try (Progress progress = command.progress("loading " + served.name())) {
      return served.openBackend(deviceOptions());
    }
  }

  DeviceOptions deviceOptions() {
    check();
    return new DeviceOptions(device, threads, kvType);
  }

  /** The compute threads that a CPU backend has with these options. */
  int computeThreads() {
    int cores = Runtime.getRuntime().availableProcessors();
    return threads > 0 ? threads : Math.max(Math.min(cores, 2), cores - 1);
  }

  private void check() {
    if (threads < 0 || threads > 1024) {
      throw new CliException("--threads is " + threads + ", must be 0 to 1024");
    }
  }

  /** The devices there are. */
  static final class Device extends Choice<String> {
    Device() {
      super(List.of("auto", "cpu", "sim"));
    }

    @Override
    String value(String name) {
      return name;
    }
  }

  /** The KV types that may be chosen. */
  static final class KvType extends Choice<KvSpec.Type> {
    KvType() {
      super(List.of("f32", "f16"));
    }

    @Override
    KvSpec.Type value(String name) {
      return name.equals("f32") ? KvSpec.Type.F32 : KvSpec.Type.F16;
    }
  }

  /** A lower-case choice among names. */
  abstract static class Choice<T> implements ITypeConverter<T>, Iterable<String> {
    private final List<String> names;

    Choice(List<String> names) {
      this.names = names;
    }

    abstract T value(String name);

    @Override
    public T convert(String text) {
      if (!names.contains(text)) {
        throw new TypeConversionException("'" + text + "' is not one of " + names);
      }
      return value(text);
    }

    @Override
    public java.util.Iterator<String> iterator() {
      return names.iterator();
    }
  }
}
