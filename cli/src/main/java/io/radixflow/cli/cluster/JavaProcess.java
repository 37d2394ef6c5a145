package io.radixflow.cli.cluster;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A separate JVM of the same kind as this one. Its output goes to a file. {@link #close()} ends it.
 * It outlives this JVM unless a {@link Watchdog} watches it.
 */
public final class JavaProcess implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final int LINES_SHOWN = 40;

  private final String name;
  private final Process process;
  private final Path output;

  private JavaProcess(String name, Process process, Path output) {
    this.name = name;
    this.process = process;
    this.output = output;
  }

  /**
   * Starts a JVM.
   *
   * @param name name in messages
   * @param arguments JVM flags, main class and its arguments
   * @param environment variables to add to this JVM's environment
   * @param output file to which standard output and error are appended
   */
  static JavaProcess start(
      String name, List<String> arguments, Map<String, String> environment, Path output)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
    builder.environment().putAll(environment);
    return new JavaProcess(name, builder.start(), output);
  }

  /** Returns the name of the process, such as {@code taskmanager-4}. */
  public String name() {
    return name;
  }

  public long pid() {
    return process.pid();
  }

  /** Returns true if the process runs or is suspended. */
  public boolean isAlive() {
    return process.isAlive();
  }

  Process process() {
    return process;
  }

  /**
   * Waits for a process that ends by itself.
   *
   * @return its output
   * @throws IOException if it failed, or did not end in time and was killed
   */
  String awaitSuccess(Duration limit) throws IOException, InterruptedException {
    int code = awaitExit(limit);
    if (code != 0) {
      throw new IOException(name + " exited with " + code + "\n" + lastOutput());
    }
    return Files.readString(output);
  }

  /**
   * Waits for a process that ends by itself, with any exit code.
   *
   * @return its exit code
   * @throws IOException if it did not end in time and was killed
   */
  int awaitExit(Duration limit) throws IOException, InterruptedException {
    boolean ended = process.waitFor(limit.toMillis(), MILLISECONDS);
    if (!ended) {
      kill();
      throw new IOException(name + " did not end in " + limit + "\n" + lastOutput());
    }
    return process.exitValue();
  }

  /** Ends the process immediately, as {@code kill -9} does, and waits until it is gone. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Suspends the process, as {@code kill -STOP} does: its connections stay open. */
  public void suspend() throws IOException, InterruptedException {
    signal("STOP");
  }

  /** Resumes a suspended process, as {@code kill -CONT} does. */
  public void resume() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String signal) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start();
    if (kill.waitFor() != 0) {
      throw new IOException("cannot send SIG" + signal + " to " + this);
    }
  }

  /**
   * Asks the process to end, as Ctrl-C does.
   *
   * @throws IOException if it did not end in time and was killed
   */
  public void terminate(Duration limit) throws IOException {
    process.destroy();
    process.onExit().completeOnTimeout(process, limit.toMillis(), MILLISECONDS).join();
    if (process.isAlive()) {
      kill();
      throw new IOException(name + " did not end in " + limit + "\n" + lastOutput());
    }
  }

  /** Asks the process to end, and kills it if it does not. */
  @Override
  public void close() {
    process.destroy();
    process.onExit().completeOnTimeout(process, PATIENCE.toMillis(), MILLISECONDS).join();
    kill();
  }

  String lastOutput() throws IOException {
    List<String> lines = Files.readAllLines(output);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - LINES_SHOWN), lines.size()));
  }

  @Override
  public String toString() {
    return name + " (process " + pid() + ")";
  }
}
