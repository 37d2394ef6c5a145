package io.radixflow.cli.command.common;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The files of a command that maps JSON lines to JSON lines. */
public final class JsonLineFiles {
  private static final String STANDARD = "-";

  @Option(
      names = "--in",
      paramLabel = "FILE",
      description = "File of JSON lines to read; - for stdin.")
  String in = STANDARD;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "File to write JSON lines to; - for stdout.")
  String out = STANDARD;

  /**
   * Opens the input. Call it before {@link #openOutput}, so that a mistyped input does not truncate
   * the output.
   */
  public JsonLineInput openInput(CliCommand command) throws IOException {
    return openInput(command, in);
  }

  /** Opens another input file. */
  public static JsonLineInput openInput(CliCommand command, String file) throws IOException {
    return new JsonLineInput(openStream(command, file));
  }

  /** Opens a file, or stdin for {@code -}. */
  public static InputStream openStream(CliCommand command, String file) throws IOException {
    return file.equals(STANDARD)
        ? command.environment.input()
        : Files.newInputStream(Path.of(file));
  }

  public JsonLineOutput openOutput(CliCommand command) throws IOException {
    if (out.equals(STANDARD)) {
      return new JsonLineOutput(command.out(), false);
    }
    Path target = Path.of(out);
    CliException.throwIf(
        !in.equals(STANDARD) && Files.exists(target) && Files.isSameFile(Path.of(in), target),
        "--in and --out are the same file, " + out);
    return new JsonLineOutput(new PrintWriter(Files.newBufferedWriter(target)), true);
  }
}
