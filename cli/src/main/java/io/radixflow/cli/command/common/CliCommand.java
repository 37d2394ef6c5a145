package io.radixflow.cli.command.common;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The base class of commands: writers, environment and progress on stderr. */
public abstract class CliCommand implements Callable<Integer> {
  public final CliEnvironment environment;

  public @Spec CommandSpec spec;

  public CliCommand(CliEnvironment environment) {
    this.environment = environment;
  }

  public final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  public final PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** Prints formatted text on stdout, with numbers independent of the locale. */
  public final void print(String format, Object... values) {
    out().printf(Locale.ROOT, format, values);
  }

  /** Returns true if an option was given; its name includes the dashes. */
  public final boolean isGiven(String option) {
    return spec.commandLine().getParseResult().hasMatchedOption(option);
  }

  /** Starts showing progress of something that may take seconds. */
  public final Progress progress(String what) {
    return Progress.start(what, err(), environment);
  }
}
