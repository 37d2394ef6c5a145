package io.radixflow.cli.command.common;

import picocli.CommandLine;

/**
 * Adds commands of another module to the command line. The command line finds providers with {@link
 * java.util.ServiceLoader}, so a distribution without the lab has no drill and no benchmarks.
 */
public interface CommandProvider {

  /**
   * Adds subcommands.
   *
   * @param radixflow the top command; its factory makes commands from their classes
   */
  void addTo(CommandLine radixflow);
}
