package io.radixflow.cli.command.common;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.kernels.device.ThreadPriority;
import io.radixflow.models.ModelProgress;
import io.radixflow.text.TextModel;
import java.io.IOException;
import org.apache.flink.configuration.MemorySize;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options that choose a model and a device. */
public final class ModelOptions {
  @Option(
      names = "--model",
      paramLabel = "MODEL",
      defaultValue = "${env:RADIXFLOW_MODEL:-SmolLM2-135M-Instruct}",
      description =
          "A GGUF file, a Hugging Face directory, a hub name, or 'sim' (environment:"
              + " RADIXFLOW_MODEL).")
  public String model;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      defaultValue = "auto",
      converter = Device.class,
      description = "Device: one of " + DeviceName.ALLOWED + ".")
  String device;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description =
          "Compute threads; 0 takes all cores, but leaves one free if there are more "
              + "than two.")
  int threads = 0;

  @Option(
      names = "--kv-type",
      paramLabel = "TYPE",
      defaultValue = "auto",
      description = "KV cache element type: f32, f16 or fp8 on a CPU, bf16 or fp8 on a GPU.")
  RadixflowOptions.KvType kvType;

  @Option(
      names = "--gpu-mode",
      paramLabel = "MODE",
      defaultValue = "deterministic",
      description =
          "Mode of a GPU: deterministic, or fast, which does not give equal bits in "
              + "every run.")
  GpuMode gpuMode;

  @Option(
      names = "--gpu-memory",
      paramLabel = "SIZE",
      defaultValue = "0",
      converter = Memory.class,
      description = "GPU memory to use, such as 20gb; 0 takes nine tenths of the free memory.")
  MemorySize gpuMemory;

  @Option(
      names = "--offline",
      description = "Never use the network for a model (environment: RADIXFLOW_OFFLINE=1).")
  boolean offline;

  /** Finds the model, and fetches it with a progress bar if necessary. */
  public LocatedModel locate(CliCommand command, String name) throws IOException {
    ModelProgress transfer =
        new ConsoleProgress(command.err(), command.environment.terminal(), System::nanoTime);
    return command.environment.models().locate(name, offline, transfer);
  }

  public ServedModel open(CliCommand command) throws IOException {
    check();
    LocatedModel located = locate(command, model);
    try (Progress progress = command.progress("opening " + model)) {
      return located.open();
    }
  }

  /** Opens only the tokenizer and the chat template, for any architecture. */
  public TextModel openText(CliCommand command) throws IOException {
    LocatedModel located = locate(command, model);
    try (Progress progress = command.progress("opening " + model)) {
      return located.openText();
    }
  }

  /** Loads an open model to its device and shows progress. */
  public Backend openBackend(CliCommand command, ServedModel served) {
    try (Progress progress = command.progress("loading " + served.name())) {
      return served.openBackend(
          deviceOptions(), PoolRequest.NONE, new LoadDetail(progress, System::nanoTime));
    }
  }

  DeviceOptions deviceOptions() {
    check();
    return new DeviceOptions(
        device,
        threads,
        ServingSettings.kvType(kvType),
        gpuMode,
        gpuMemory.getBytes(),
        ThreadPriority.NICE,
        RadixflowOptions.WEIGHT_FILES.defaultValue().getBytes());
  }

  /** Returns the number of compute threads of a CPU backend with these options. */
  public int computeThreads() {
    int cores = Runtime.getRuntime().availableProcessors();
    return threads > 0 ? threads : Math.max(Math.min(cores, 2), cores - 1);
  }

  private void check() {
    if (threads < 0 || threads > 1024) {
      throw new CliException("--threads is " + threads + "; it must be 0 to 1024");
    }
  }

  /** Reads a device name. */
  public static final class Device implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      if (!DeviceName.isValid(text)) {
        throw new TypeConversionException("'" + text + "' is not one of " + DeviceName.ALLOWED);
      }
      return text;
    }
  }

  public static final class Memory implements ITypeConverter<MemorySize> {
    @Override
    public MemorySize convert(String text) {
      try {
        return MemorySize.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException("'" + text + "' is not a memory size such as 20gb");
      }
    }
  }
}
