package io.radixflow.cli;

import io.radixflow.cli.command.chat.ChatCommand;
import io.radixflow.cli.command.cluster.ClusterCommand;
import io.radixflow.cli.command.cluster.GatewayCommand;
import io.radixflow.cli.command.cluster.GatewayKeyCommand;
import io.radixflow.cli.command.cluster.RunCommand;
import io.radixflow.cli.command.cluster.SubmitCommand;
import io.radixflow.cli.command.cluster.UpCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.CliLogging;
import io.radixflow.cli.command.common.CommandFactory;
import io.radixflow.cli.command.common.CommandProvider;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.command.model.DoctorCommand;
import io.radixflow.cli.command.model.GenerateCommand;
import io.radixflow.cli.command.model.GrammarCommand;
import io.radixflow.cli.command.model.LogitsCommand;
import io.radixflow.cli.command.model.ModelCommand;
import io.radixflow.cli.command.model.RenderCommand;
import io.radixflow.cli.command.model.TokenizeCommand;
import io.radixflow.cli.command.topic.SendCommand;
import io.radixflow.cli.command.topic.StateCommand;
import io.radixflow.cli.command.topic.TailCommand;
import io.radixflow.cli.command.topic.TiersCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ServiceLoader;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line's entry point and top command. */
@Command(
    name = "radixflow",
    synopsisSubcommandLabel = "COMMAND",
    description = "Serve multi-turn LLM conversations with Apache Flink and Kafka.",
    footer = {"", "Run 'radixflow COMMAND --help' for the options of a command."},
    subcommands = {
      ChatCommand.class,
      UpCommand.class,
      RunCommand.class,
      ClusterCommand.class,
      SubmitCommand.class,
      GatewayCommand.class,
      GatewayKeyCommand.class,
      SendCommand.class,
      TailCommand.class,
      TiersCommand.class,
      ModelCommand.class,
      DoctorCommand.class,
      StateCommand.class,
      CacheCommand.class,
      TokenizeCommand.class,
      RenderCommand.class,
      GrammarCommand.class,
      LogitsCommand.class,
      GenerateCommand.class,
    })
public final class Radixflow {
  /** Exit code of an interrupted command; shells use it for SIGINT. */
  static final int INTERRUPTED = 130;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this help.")
  boolean help;

  @Option(names = "--version", versionHelp = true, description = "Show the version.")
  boolean version;

  @Option(
      names = "--verbose",
      scope = ScopeType.INHERIT,
      description = "Show where an error comes from.")
  boolean verbose;

  /** Runs a command and ends the process with its exit code. */
  public static void main(String[] args) {
    CliLogging.toFile();
    CliEnvironment environment =
        new CliEnvironment(
            LocatedModel::locate,
            System.in,
            Boolean.getBoolean("radixflow.terminal"),
            Duration.ofSeconds(2));
    CommandLine line = commandLine(environment);
    line.setOut(new PrintWriter(System.out, false, StandardCharsets.UTF_8));
    line.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
    int code = line.execute(args);
    line.getOut().flush();
    line.getErr().flush();
    System.exit(code);
  }

  /**
   * Returns the whole command line with the commands of every {@link CommandProvider} on the class
   * path. The caller may replace its writers.
   */
  static CommandLine commandLine(CliEnvironment environment) {
    CommandLine line = new CommandLine(Radixflow.class, new CommandFactory(environment));
    ServiceLoader.load(CommandProvider.class).forEach(provider -> provider.addTo(line));
    String version = Radixflow.class.getPackage().getImplementationVersion();
    line.getCommandSpec()
        .version(
            "radixflow " + (version == null ? "(unpackaged)" : version),
            "Java ${java.runtime.version}, ${java.vm.name}");
    line.setUsageHelpAutoWidth(true);
    line.setCaseInsensitiveEnumValuesAllowed(true);
    showDefaultValues(line);
    line.setParameterExceptionHandler(Radixflow::wrongUsage);
    line.setExecutionExceptionHandler(Radixflow::failed);
    return line;
  }

  private static void showDefaultValues(CommandLine line) {
    line.getCommandSpec().usageMessage().showDefaultValues(true);
    line.getSubcommands().values().forEach(Radixflow::showDefaultValues);
  }

  private static int wrongUsage(ParameterException error, String[] args) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("radixflow: " + message(withUnknownFirst(error)));
    String name = command.getCommandSpec().qualifiedName();
    err.println("Try '" + name + " --help'.");
    err.flush();
    return CommandLine.ExitCode.USAGE;
  }

  /**
   * Reports an unknown option before a missing option, because the unknown one may be the missing
   * one misspelt.
   */
  private static ParameterException withUnknownFirst(ParameterException error) {
    CommandLine command = error.getCommandLine();
    return error instanceof MissingParameterException && !command.getUnmatchedArguments().isEmpty()
        ? new UnmatchedArgumentException(command, command.getUnmatchedArguments())
        : error;
  }

  private static String message(ParameterException error) {
    if (error instanceof UnmatchedArgumentException unmatched
        && !error.getCommandLine().getSubcommands().isEmpty()
        && !unmatched.isUnknownOption()) {
      return "unknown command '" + unmatched.getUnmatched().get(0) + "'";
    }
    return Errors.line(error);
  }

  private static int failed(Exception error, CommandLine command, ParseResult result) {
    PrintWriter err = command.getErr();
    command.getOut().flush();
    Radixflow top = (Radixflow) command.getCommandSpec().root().userObject();
    if (top.verbose) {
      error.printStackTrace(err);
    } else {
      err.println("radixflow: " + Errors.line(error));
    }
    err.flush();
    if (error instanceof CliException failure) {
      return failure.exitCode();
    }
    return error instanceof InterruptedException ? INTERRUPTED : CommandLine.ExitCode.SOFTWARE;
  }
}
