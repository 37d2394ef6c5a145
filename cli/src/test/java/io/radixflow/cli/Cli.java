package io.radixflow.cli;

import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.LocatedModel;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import picocli.CommandLine;

/** Runs commands in this process. */
public final class Cli {
  private InputStream input = InputStream.nullInputStream();

  /** A command's output and its exit code. */
  public record Result(int code, String out, String err) {}

  /** The same with something on stdin. */
  public Cli with(String text) {
    input = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    return this;
  }

  public CommandLine commandLine() {
    return Radixflow.commandLine(environment(input));
  }

  /** An environment in which a slow command shows no progress between what a test expects. */
  public static CliEnvironment environment(InputStream input) {
    return new CliEnvironment(LocatedModel::locate, input, false, Duration.ofDays(1));
  }

  public Result run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = commandLine();
    line.setOut(new PrintWriter(out));
    line.setErr(new PrintWriter(err));
    int code = line.execute(arguments);
    line.getOut().flush();
    line.getErr().flush();
    return new Result(code, out.toString(), err.toString());
  }
}
