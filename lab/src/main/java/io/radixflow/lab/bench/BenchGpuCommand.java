package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.kernels.cuda.CudaSupport;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.lab.device.GpuBench;
import io.radixflow.lab.device.ShapeBench;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.TensorType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a GPU against its peak speed. */
@Command(
    name = "gpu",
    description = {
      "Measure a GPU: reads and copies, then each kernel and whole steps of models' shapes with"
          + " random weights (decode of 1, 8, 64 and 256 sequences of 2,048 tokens, prefill of"
          + " 2,048), in both modes.",
      "The floor is the time that the bytes take at the bandwidth measured first (for moves of "
          + "pages, the bandwidth of pinned copies), or the operations at --tflops; the ratio is "
          + "the floor divided by the time. Small kernels find their data in the device's cache, so their ratio "
          + "may be above 1."
    })
public final class BenchGpuCommand extends CliCommand {
  @Mixin BenchReport report;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      defaultValue = "cuda",
      converter = ModelOptions.Device.class,
      description = "cuda or cuda:N.")
  String device;

  @Option(
      names = "--shape",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "NAME",
      description =
          "Measure only these of SmolLM2-135M, Qwen3-0.6B, Qwen3-8B, Llama-3.1-8B, "
              + "Qwen3-30B-A3B-6L, DeepSeek-V2-Lite-6L (6 layers each).")
  List<String> names = new ArrayList<>();

  @Option(
      names = "--tflops",
      paramLabel = "N",
      description =
          "Speed of the tensor cores with bf16, in 10^12 operations per second (default: an "
              + "H200's).")
  double teraflops = 790;

  @Option(
      names = "--weights",
      paramLabel = "TYPE",
      description =
          "Type of the weights: BF16, Q8_0, Q4_0, Q4_K or Q6_K; types other than BF16 measure "
              + "only products and steps.")
  TensorType type = TensorType.BF16;

  @Option(
      names = "--kv-type",
      paramLabel = "TYPE",
      defaultValue = "bf16",
      description =
          "Type of keys and values: bf16 or fp8; fp8 measures only the kernels that read keys "
              + "and values, and steps.")
  KvSpec.Type kvType;

  @Option(
      names = "--gpu-mode",
      paramLabel = "MODE",
      showDefaultValue = Visibility.NEVER,
      description = "Only this mode: deterministic or fast.")
  GpuMode mode;

  BenchGpuCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(teraflops > 0)) {
      throw new CliException("--tflops is " + teraflops + "; it must be above 0");
    }
    CliException.throwIf(
        !GpuBench.weightTypes().contains(type),
        "--weights " + type + " is not one of " + GpuBench.weightTypes());
    CliException.throwIf(
        kvType != KvSpec.Type.BF16 && kvType != KvSpec.Type.FP8,
        "--kv-type " + kvType + " is not one of bf16, fp8");
    ObjectNode json = JsonLineOutput.object();
    json.put("tflops", teraflops);
    json.put("weights", type.name());
    json.put("kv_type", kvType.name());
    List<GpuMode> modes = mode == null ? List.of(GpuMode.values()) : List.of(mode);
    List<ModelConfig> shapes = shapes();
    GpuFigures figures = new GpuFigures(out(), json.putArray("figures"));
    int ordinal = Math.max(0, DeviceName.parse(device).index());
    String problem = CudaSupport.probe().problem(ordinal);
    CliException.throwIf(problem != null, "no GPU to measure: " + problem);
    ShapeBench bench = new ShapeBench(ordinal, teraflops * 1e12, type, kvType, figures::show);
    bench.ceilings();
    for (ModelConfig shape : shapes) {
      bench.shape(shape, modes);
    }
    report.write(this, json);
    return 0;
  }

  private List<ModelConfig> shapes() {
    Map<String, ModelConfig> known = GpuBench.shapes();
    if (names.isEmpty()) {
      return List.copyOf(known.values());
    }
    List<ModelConfig> shapes = new ArrayList<>();
    for (String name : names) {
      ModelConfig shape = known.get(name.toLowerCase(Locale.ROOT));
      CliException.throwIf(shape == null, "--shape '" + name + "' is not one of " + known.keySet());
      shapes.add(shape);
    }
    return shapes;
  }
}
