package io.radixflow.cli.cluster;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.radixflow.cli.flink.Ports;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.flink.util.FileUtils;

/**
 * Flink's own distribution: scripts and configuration from the Python package {@code apache-flink},
 * jars and plugins from {@code apache-flink-libraries}. It runs by its scripts; {@link #close()}
 * ends what they started.
 */
final class StockFlink implements AutoCloseable {

  private static final String PACKAGE_ROOT = "pyflink/";
  private static final List<String> PARTS = List.of("bin/", "conf/", "lib/", "plugins/");

  private final Path home;
  private final int restPort = Ports.free();

  private StockFlink(Path home) throws IOException {
    this.home = home.toAbsolutePath();
  }

  /**
   * Lays the distribution out, with the kernels in its {@code lib}. Where its packages cannot be
   * downloaded the test is skipped; with {@code RADIXFLOW_REQUIRE_STOCK_FLINK=true} it fails.
   *
   * @param directory is replaced
   * @param properties lines of Flink's configuration in addition to its own
   */
  static StockFlink layOut(Path directory, String properties)
      throws IOException, InterruptedException {
    Path wheels = Files.createDirectories(Path.of("target/stock-flink-wheels"));
    try (FileChannel lock = FileChannel.open(wheels.resolve("lock"), CREATE, WRITE)) {
      // another test's JVM may be downloading them
      lock.lock();
      download(wheels);
    }
    Path home = directory.resolve("flink");
    FileUtils.deleteDirectory(home.toFile());
    try (DirectoryStream<Path> files = Files.newDirectoryStream(wheels, "*.whl")) {
      for (Path wheel : files) {
        unpack(wheel, home);
      }
    }
    Path kernels = Path.of("../engine/target/radixflow-kernels-lib.jar");
    Files.copy(kernels, home.resolve("lib").resolve(kernels.getFileName()));
    Files.createDirectory(home.resolve("log"));
    StockFlink flink = new StockFlink(home);
    flink.configure(properties);
    return flink;
  }

  /** Downloads both packages, unless they are there; a failing network is asked again. */
  private static void download(Path wheels) throws IOException, InterruptedException {
    try (Stream<Path> files = Files.list(wheels)) {
      if (files.filter(file -> file.toString().endsWith(".whl")).count() == 2) {
        return;
      }
    }
    boolean required = "true".equals(System.getenv("RADIXFLOW_REQUIRE_STOCK_FLINK"));
    Optional<String> problem = tryDownload(wheels);
    for (int pause = 15; required && problem.isPresent() && pause <= 60; pause *= 4) {
      TimeUnit.SECONDS.sleep(pause);
      problem = tryDownload(wheels);
    }
    if (problem.isPresent()) {
      String hint = "Flink's distribution cannot be downloaded by pip: " + problem.get();
      assertThat(required).as(hint).isFalse();
      assumeTrue(false, hint);
    }
  }

  private static Optional<String> tryDownload(Path wheels)
      throws IOException, InterruptedException {
    String version = "==" + EnvironmentInformation.getVersion();
    // the scripts are the same for every Python; one of these has no wheel for the newest
    List<String> pip =
        List.of(
            "python3",
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--python-version=3.11",
            "--platform=manylinux2014_x86_64",
            "--dest=" + wheels,
            "apache-flink" + version,
            "apache-flink-libraries" + version);
    try {
      Process process = new ProcessBuilder(pip).redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? Optional.empty() : Optional.of(output);
    } catch (IOException e) {
      return Optional.of(String.valueOf(e.getMessage()));
    }
  }

  private static void unpack(Path wheel, Path home) throws IOException {
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      for (ZipEntry entry : zip.stream().filter(each -> !each.isDirectory()).toList()) {
        String name = entry.getName();
        if (name.startsWith(PACKAGE_ROOT)
            && PARTS.stream().anyMatch(name.substring(PACKAGE_ROOT.length())::startsWith)) {
          Path file = home.resolve(name.substring(PACKAGE_ROOT.length())).normalize();
          assertThat(file.startsWith(home)).as(name).isTrue();
          Files.createDirectories(file.getParent());
          try (InputStream in = zip.getInputStream(entry)) {
            Files.copy(in, file);
          }
          Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
      }
    }
  }

  /** Changes ports, so that tests may run at the same time, and appends the properties. */
  private void configure(String properties) throws IOException {
    Path file = home.resolve("conf/config.yaml");
    String changed =
        Files.readString(file)
            .replaceFirst("(?m)^    port: 6123$", "    port: " + Ports.free())
            .replaceFirst("(?m)^rest:$", "rest:\n  port: " + restPort);
    assertThat(changed).contains("  port: " + restPort).doesNotContain("6123");
    Files.writeString(file, changed + properties);
  }

  Path home() {
    return home;
  }

  int restPort() {
    return restPort;
  }

  /**
   * Runs one of the scripts in {@code bin}.
   *
   * @return what it printed
   */
  String run(String script, String... arguments) throws IOException, InterruptedException {
    Path output = Files.createTempFile(home, "output", ".txt");
    int status = start(script, List.of(arguments), output).waitFor();
    String printed = Files.readString(output);
    assertThat(status).as("%s: %s", script, printed).isZero();
    return printed;
  }

  /** Starts one of the scripts in {@code bin}; what it prints goes to a file. */
  Process start(String script, List<String> arguments, Path output) throws IOException {
    List<String> command = new ArrayList<>(List.of(home.resolve("bin").resolve(script).toString()));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("FLINK_PID_DIR", home.resolve("pid").toString());
    builder.environment().remove("FLINK_CONF_DIR");
    return builder.start();
  }

  /** The process of a kind that the scripts started last, such as {@code taskexecutor}. */
  ProcessHandle latest(String kind) throws IOException {
    return processes(kind).reduce((first, last) -> last).orElseThrow();
  }

  /** Returns whether a process that was started has ended, also by a test. */
  boolean hasLost(String kind) throws IOException {
    return processes(kind).noneMatch(ProcessHandle::isAlive);
  }

  private Stream<ProcessHandle> processes(String kind) throws IOException {
    Path directory = home.resolve("pid");
    if (!Files.isDirectory(directory)) {
      return Stream.empty();
    }
    List<String> pids = new ArrayList<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.toString().contains(kind)).toList()) {
        pids.addAll(Files.readAllLines(file));
      }
    }
    return pids.stream().map(Long::parseLong).map(ProcessHandle::of).flatMap(Optional::stream);
  }

  @Override
  public void close() throws IOException {
    for (ProcessHandle process : processes(".pid").toList()) {
      process.destroyForcibly();
      process.onExit().join();
    }
  }
}
