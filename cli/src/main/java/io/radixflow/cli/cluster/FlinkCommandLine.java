package io.radixflow.cli.cluster;

import io.radixflow.client.config.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Flink's command line on a cluster; each command runs in its own process. */
public final class FlinkCommandLine {

  private static final String MAIN_CLASS = "org.apache.flink.client.cli.CliFrontend";
  private static final Pattern JOB_ID = Pattern.compile("JobID ([0-9a-f]{32})");
  private static final Pattern SAVEPOINT = Pattern.compile("Savepoint completed. Path: (\\S+)");
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final ProcessLauncher launcher;

  FlinkCommandLine(ProcessLauncher launcher) {
    this.launcher = launcher;
  }

  /**
   * Submits the job, as {@code flink run --detached} does.
   *
   * @param savepoint the savepoint that the job starts from, or null
   * @param settings of the job; they may contain secrets, so they are passed in a file
   * @return the job's id
   */
  public String submit(String savepoint, Settings settings)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("run", "--detached"));
    if (savepoint != null) {
      command.addAll(List.of("--fromSavepoint", savepoint));
    }
    command.add(launcher.home().job().toString());
    Path file = settings.write(launcher.home().root());
    try {
      command.addAll(List.of("--settings", file.toString()));
      return find(JOB_ID, run(command));
    } finally {
      Files.delete(file);
    }
  }

  /**
   * Stops a job with a savepoint, as {@code flink stop} does.
   *
   * @param type {@code native} or {@code canonical}
   * @return the savepoint's path
   */
  public String stopWithSavepoint(String job, String type)
      throws IOException, InterruptedException {
    return find(SAVEPOINT, run(List.of("stop", "--type", type, job)));
  }

  /**
   * Runs a command.
   *
   * @return the output
   * @throws IOException with the end of the output, if the command failed
   */
  public String run(List<String> command) throws IOException, InterruptedException {
    try (JavaProcess cli = launcher.flink("cli", List.of("-Xmx256m"), true, MAIN_CLASS, command)) {
      return cli.awaitSuccess(LIMIT);
    }
  }

  private static String find(Pattern pattern, String output) throws IOException {
    Matcher matcher = pattern.matcher(output);
    if (!matcher.find()) {
      throw new IOException("no " + pattern + " in\n" + output);
    }
    return matcher.group(1);
  }
}
