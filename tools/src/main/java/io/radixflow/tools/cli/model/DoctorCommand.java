package io.radixflow.tools.cli.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.ModelOptions;
import io.radixflow.tools.cli.common.Progress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows what this machine and this build can run a model on. */
@Command(
    name = "doctor",
    description = {
      "Show Java, processor, GPU, what the build contains, and the Flink options that follow; try the"
          + " GPU.",
      "The exit code is 1 if what --device asks for cannot be used: with 'auto', if there is a GPU that"
          + " fails its test."
    })
public final class DoctorCommand extends CliCommand {
  @Option(
      names = "--device",
      paramLabel = "NAME",
      defaultValue = "auto",
      converter = ModelOptions.Device.class,
      description = "Device that must work: one of " + DeviceName.ALLOWED + ".")
  String device;

  @Option(names = "--json", description = "Print one JSON object instead of text.")
  boolean json;

  DoctorCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() {
    DeviceName asked = DeviceName.parse(device);
    DeviceReport devices;
    try (Progress progress = progress("looking at devices")) {
      progress.detail(device);
      devices = DeviceReport.of(asked);
    }
    boolean healthy = devices.works(asked);
    DoctorReport report = new DoctorReport(devices, MemorySource.system().now());
    if (json) {
      ObjectNode line = report.json();
      line.put("healthy", healthy);
      out().println(line.toPrettyString());
    } else {
      report.print(out());
      print("%n%s%n", healthy ? "All is well." : "Device " + device + " cannot be used.");
    }
    out().flush();
    return healthy ? 0 : 1;
  }
}
