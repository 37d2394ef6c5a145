package io.radixflow.jobs.cli;

import java.nio.file.Path;
import java.util.Map;

/** Sends the log of Flink, Kafka and the engine to a file, away from the conversation. */
final class CliLogging {
  private static final String CONFIGURATION = "log4j2.configurationFile";
  private static final String DIRECTORY = "radixflow.log.dir";

  private CliLogging() {}

  /** Chooses the configuration unless the user chose one; must run before the first logger. */
  static void toFile() {
    setDefault(DIRECTORY, directory(System.getenv()).toString());
    setDefault(CONFIGURATION, "log4j2-cli.properties");
  }

  /** Where logs go: {@code $RADIXFLOW_HOME/logs}, or {@code ~/.cache/radixflow/logs}. */
  static Path directory(Map<String, String> variables) {
    String home = variables.get("RADIXFLOW_HOME");
    Path base =
        home == null || home.isBlank()
            ? Path.of(System.getProperty("user.home"), ".cache", "radixflow")
            : Path.of(home);
    return base.resolve("logs");
  }

  private static void setDefault(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
