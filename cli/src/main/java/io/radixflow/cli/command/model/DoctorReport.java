package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.local.LocalLimits;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.weights.WeightFiles;
import io.radixflow.kernels.cuda.driver.CudaDevice;
import io.radixflow.kernels.device.MemoryStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The report of {@code doctor}.
 *
 * @param devices the GPUs
 * @param memory the available memory
 * @param limits the limits of this process
 * @param data directory in which conversations are kept
 * @param weights files of repacked weights
 */
record DoctorReport(
    DeviceReport devices,
    MemoryStatus memory,
    LocalLimits limits,
    Path data,
    List<WeightFiles.Entry> weights) {

  private static final Path DRIVER = Path.of("/proc/driver/nvidia/version");
  private static final Pattern VERSION = Pattern.compile("\\b(\\d{3,}\\.\\d+(\\.\\d+)?)\\b");

  /**
   * Returns the memory that a TaskManager may have: the machine's, or the container's part of it.
   */
  private long limit() {
    return memory.container() == 0 ? memory.machine() : memory.container();
  }

  /** Returns the version of NVIDIA's kernel module, or null. */
  private static String kernelModule() {
    try {
      Matcher version = VERSION.matcher(Files.readString(DRIVER));
      return version.find() ? version.group(1) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Returns Flink's options for a TaskManager with the libraries and devices of this machine. */
  private Map<String, String> flinkOptions() {
    Map<String, String> options = new LinkedHashMap<>();
    if (devices.gpuWorks()) {
      options.put("external-resources", "gpu");
      options.put("external-resource.gpu.amount", "1");
      options.put(
          "external-resource.gpu.driver-factory.class",
          "org.apache.flink.externalresource.gpu.GPUDriverFactory");
      options.put("taskmanager.memory.task.off-heap.size", "512mb");
    } else if (CpuBackend.usesNativeMemory()) {
      // Weights and KV pool are outside the heap.
      options.put("taskmanager.memory.task.heap.size", megabytes(Math.min(limit() / 8, 2L << 30)));
      options.put("taskmanager.memory.task.off-heap.size", megabytes(limit() / 2));
    } else {
      options.put("taskmanager.memory.task.heap.size", megabytes(limit() / 2));
    }
    return options;
  }

  private static String megabytes(long bytes) {
    return (bytes >> 20) + "mb";
  }

  ObjectNode json() {
    ObjectNode json = JsonLineOutput.object();
    json.put("java", System.getProperty("java.version"));
    json.put("java_vendor", System.getProperty("java.vendor"));
    json.put("processors", Runtime.getRuntime().availableProcessors());
    json.put("instructions", CpuBackend.instructions());
    json.put("native_code", CpuBackend.nativeCode());
    json.put("memory_bytes", limit());
    json.put("machine_memory_bytes", memory.machine());
    json.put("available_memory_bytes", memory.available());
    json.put("heap_bytes", memory.heap());
    json.put("heap_used_bytes", memory.heapUsed());
    json.put("open_files_limit", limits.files());
    json.put("data_directory", data.toString());
    json.put("disk_free_bytes", limits.diskBytes());
    ArrayNode files = json.putArray("weight_files");
    for (WeightFiles.Entry entry : weights) {
      files
          .addObject()
          .put("file", entry.path().toString())
          .put("bytes", entry.bytes())
          .put("last_used", entry.lastUsed().toString())
          .put("in_use", entry.inUse());
    }
    json.put("cuda_driver_version", devices.cuda().driverVersion());
    json.put("nvidia_driver", kernelModule());
    json.put("device_code", devices.cuda().deviceCode());
    ArrayNode gpus = json.putArray("gpus");
    for (CudaDevice gpu : devices.cuda().devices()) {
      gpus.addObject()
          .put("name", gpu.name())
          .put("compute_capability", capability(gpu))
          .put("memory_bytes", gpu.totalMemory())
          .put("multiprocessors", gpu.multiprocessors());
    }
    json.put("gpu_problem", devices.problem());
    json.put("gpu_tested", devices.tested());
    ObjectNode options = json.putObject("flink_options");
    flinkOptions().forEach(options::put);
    return json;
  }

  void print(PrintWriter out) {
    line(
        out, "Java", System.getProperty("java.version") + ", " + System.getProperty("java.vendor"));
    line(
        out,
        "Processor",
        Runtime.getRuntime().availableProcessors() + " threads, " + CpuBackend.instructions());
    line(out, "Native code", CpuBackend.nativeCode());
    line(out, "Memory", memory.text());
    line(out, "Open files", limits.files() + " at most");
    line(out, "Disk", (limits.diskBytes() >> 20) + " MB free for " + data);
    Instant now = Instant.now();
    weights.forEach(entry -> line(out, "Weight file", WeightFileLines.of(entry, now)));
    line(out, "Device code", devices.cuda().deviceCode());
    line(out, "CUDA driver", driver());
    for (CudaDevice gpu : devices.cuda().devices()) {
      line(
          out,
          "GPU " + gpu.ordinal(),
          String.format(
              Locale.ROOT,
              "%s, compute capability %s, %d multiprocessors, %d MB",
              gpu.name(),
              capability(gpu),
              gpu.multiprocessors(),
              gpu.totalMemory() >> 20));
    }
    line(out, "GPU " + devices.gpu() + " works", verdict());
    out.printf("%nFlink options for a TaskManager here:%n");
    flinkOptions().forEach((key, value) -> out.printf("  %s: %s%n", key, value));
  }

  private static String capability(CudaDevice gpu) {
    return gpu.major() + "." + gpu.minor();
  }

  private String verdict() {
    if (!devices.gpuWorks()) {
      return "no: " + devices.problem();
    }
    return devices.tested() ? "yes, its test passed" : "not tried";
  }

  private String driver() {
    if (devices.cuda().driverVersion() == 0) {
      return "none";
    }
    String module = kernelModule();
    return String.format(
        Locale.ROOT,
        "CUDA %d.%d%s; the device code needs 13.0, which driver 580 supports",
        devices.cuda().driverVersion() / 1000,
        devices.cuda().driverVersion() % 1000 / 10,
        module == null ? "" : ", driver " + module);
  }

  private static void line(PrintWriter out, String name, String value) {
    out.printf("%-13s %s%n", name, value);
  }
}
