package io.radixflow.cli.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The command line in a process of its own, as a user starts it. */
public final class CommandProcess {

  private CommandProcess() {}

  /**
   * Starts a command.
   *
   * @param home of models and logs
   * @param output receives what it prints
   * @param flags of the JVM
   * @param arguments the command and its options
   */
  public static JavaProcess start(
      Path home, Path output, List<String> flags, List<String> arguments) throws IOException {
    List<String> words = new ArrayList<>(JvmFlags.ALL);
    words.addAll(flags);
    words.addAll(
        List.of("-cp", System.getProperty("java.class.path"), "io.radixflow.cli.Radixflow"));
    words.addAll(arguments);
    return JavaProcess.start(
        arguments.get(0), words, Map.of("RADIXFLOW_HOME", home.toString()), output);
  }
}
