package io.radixflow.jobs.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.GpuBench;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.GpuFigure;
import io.radixflow.kernels.model.ModelConfig;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a GPU against what it could do at best. */
@Command(
    name = "gpu",
    description = {
      "Measure a GPU: copies, products, and steps of models' shapes with random weights (decode of 1,"
          + " 8, 64 and 256 sequences of 2,048 tokens, prefill of 2,048), in both modes.",
      "The floor is the time that the bytes take at the copy bandwidth measured first, or the"
          + " operations at --tflops; the ratio is floor by time."
    })
final class BenchGpuCommand extends CliCommand {
  @Mixin BenchReport report;

  @Option(
      names = "--device",
      paramLabel = "NAME",
      defaultValue = "cuda",
      converter = ModelOptions.Device.class,
      description = "cuda or cuda:N (default: ${DEFAULT-VALUE}).")
  String device;

  @Option(
      names = "--shape",
      paramLabel = "NAME",
      description = "Only these of SmolLM2-135M, Qwen3-0.6B, Qwen3-8B, Llama-3.1-8B.")
  List<String> names = new ArrayList<>();

  @Option(
      names = "--tflops",
      paramLabel = "N",
      defaultValue = "790",
      description =
          "What the tensor cores do with bf16, 10^12 operations a second (default:"
              + " ${DEFAULT-VALUE}, an H200's).")
  double teraflops;

  BenchGpuCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(teraflops > 0)) {
      throw new CliException("--tflops is " + teraflops + ", must be above 0");
    }
    ObjectNode json = JsonLineOutput.object();
    json.put("tflops", teraflops);
    ArrayNode figures = json.putArray("figures");
    try {
      GpuBench.run(
          DeviceName.parse(device), shapes(), teraflops * 1e12, figure -> show(figure, figures));
    } catch (IllegalArgumentException e) {
      throw new CliException(e.getMessage());
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
      if (shape == null) {
        throw new CliException("--shape '" + name + "' is not one of " + known.keySet());
      }
      shapes.add(shape);
    }
    return shapes;
  }

  private void show(GpuFigure figure, ArrayNode json) {
    if (json.isEmpty()) {
      out()
          .printf(
              "%-28s %-18s %12s %10s %10s %6s%n", "", "", "time in us", "GB/s", "TFLOP/s", "ratio");
    }
    double bandwidth = figure.bytes() / figure.seconds();
    double speed = figure.flops() / figure.seconds();
    json.addObject()
        .put("group", figure.group())
        .put("name", figure.name())
        .put("seconds", figure.seconds())
        .put("floor_seconds", figure.floorSeconds())
        .put("ratio", figure.ratio())
        .put("bytes_per_second", bandwidth)
        .put("flops_per_second", speed);
    out()
        .printf(
            Locale.ROOT,
            "%-28s %-18s %12.1f %10.1f %10.1f %6s%n",
            figure.group(),
            figure.name(),
            figure.seconds() * 1e6,
            bandwidth / 1e9,
            speed / 1e12,
            figure.ratio() > 0 ? String.format(Locale.ROOT, "%.2f", figure.ratio()) : "");
    out().flush();
  }
}
