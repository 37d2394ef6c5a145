package io.radixflow.cli.command.common;

import io.radixflow.models.RadixflowHome;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;

/**
 * Sends the log of Flink, Kafka and the engine to a file of this process, so that it does not
 * disturb the conversation.
 */
public final class CliLogging {
  private static final String CONFIGURATION = "log4j2.configurationFile";
  private static final String DIRECTORY = "radixflow.log.dir";
  private static final String NAME = "radixflow.log.name";
  private static final String OWN = "log4j2-cli.properties";
  private static final DateTimeFormatter START = DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss");

  private CliLogging() {}

  /**
   * Chooses the configuration unless the user chose one, and deletes old logs; must run before the
   * first logger is created.
   */
  public static void toFile() {
    setDefault(DIRECTORY, RadixflowHome.path().resolve("logs").toString());
    setDefault(NAME, LogFiles.name(LocalDateTime.now().format(START), ProcessHandle.current()));
    setDefault(CONFIGURATION, OWN);
    new LogFiles(Path.of(System.getProperty(DIRECTORY))).deleteOld();
  }

  /** Returns a clause with the log's path, for messages. */
  public static String place() {
    return OWN.equals(System.getProperty(CONFIGURATION))
        ? "the log is "
            + Path.of(System.getProperty(DIRECTORY), System.getProperty(NAME) + LogFiles.SUFFIX)
        : "the log is where " + CONFIGURATION + " sends it";
  }

  private static void setDefault(String property, String value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, value);
    }
  }
}
