package io.radixflow.jobs.cli;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** What all commands share: their writers, their environment and progress on stderr. */
abstract class CliCommand implements Callable<Integer> {
  final CliEnvironment environment;

  @Spec CommandSpec spec;

  CliCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** Whether an option was given, by its name with dashes. */
  final boolean isGiven(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  /** Begins to report on something that may take more than two seconds. */
  final Progress progress(String what) {
    return Progress.start(what, err(), environment.terminal());
  }
}
