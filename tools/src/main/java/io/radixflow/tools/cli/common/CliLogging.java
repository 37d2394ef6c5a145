package io.radixflow.tools.cli.common;

import java.nio.file.Path;
import java.util.Map;

/** Sends the log of Flink, Kafka and the engine to a file, away from the conversation. */
public final class CliLogging {
  private static final String CONFIGURATION = "log4j2.configurationFile";
  private static final String DIRECTORY = "radixflow.log.dir";
  private static final String OWN = "log4j2-cli.properties";

  private CliLogging() {}

  /** Chooses the configuration unless the user chose one; must run before the first logger. */
  public static void toFile() {
    setDefault(DIRECTORY, directory(System.getenv()).toString());
    setDefault(CONFIGURATION, OWN);
  }

  /** Returns a clause that names the log's path, for messages. */
  static String place() {
    return OWN.equals(System.getProperty(CONFIGURATION))
        ? "the log is " + Path.of(System.getProperty(DIRECTORY), "radixflow.log")
        : "the log is where " + CONFIGURATION + " sends it";
  }

  /** The directory of logs: {@code $RADIXFLOW_HOME/logs}, or {@code ~/.cache/radixflow/logs}. */
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
