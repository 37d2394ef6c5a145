package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.local.LocalLimits;
import io.radixflow.kernels.cpu.weights.WeightFiles;
import io.radixflow.kernels.device.DeviceName;
import io.radixflow.kernels.device.MemorySource;
import io.radixflow.models.RadixflowHome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows the devices on which this machine and this build can run a model. */
@Command(
    name = "doctor",
    description = {
      "Show Java, processor, GPU, the parts of the build, and the Flink options for them; test "
          + "the GPU.",
      "The exit code is 1 if what --device asks for cannot be used (with 'auto', if there is a GPU"
          + " that fails its test), or if up has too little memory, disk or open files."
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
  public Integer call() throws IOException {
    DeviceName asked = DeviceName.parse(device);
    DeviceReport devices;
    try (Progress progress = progress("looking at devices")) {
      progress.detail(device);
      devices = DeviceReport.of(asked);
    }
    Path data = RadixflowHome.data();
    LocalLimits limits = LocalLimits.of(data);
    List<String> problems = new ArrayList<>(limits.problems(data));
    if (!devices.works(asked)) {
      problems.add("device " + device + " cannot be used");
    }
    boolean healthy = problems.isEmpty();
    DoctorReport report =
        new DoctorReport(
            devices, MemorySource.system().now(), limits, data, WeightFiles.ofUser(0).list());
    if (json) {
      ObjectNode line = report.json();
      line.put("healthy", healthy);
      problems.forEach(line.putArray("problems")::add);
      out().println(line.toPrettyString());
    } else {
      report.print(out());
      out().println();
      problems.forEach(problem -> out().println("Problem: " + problem + "."));
      if (healthy) {
        out().println("All is well.");
      }
    }
    out().flush();
    return healthy ? 0 : 1;
  }
}
