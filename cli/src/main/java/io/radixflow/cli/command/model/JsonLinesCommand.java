package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.JsonLineFiles;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.text.template.ChatTemplateException;
import java.io.IOException;
import picocli.CommandLine.Mixin;

/**
 * A command that answers each JSON line of its input with one line of output, in order. A line that
 * cannot be answered gets {@code {"error": …}}; the exit code reports only failures of the whole
 * command.
 */
abstract class JsonLinesCommand<M> extends CliCommand {
  @Mixin JsonLineFiles files;
  @Mixin ModelOptions modelOptions;

  JsonLinesCommand(CliEnvironment environment) {
    super(environment);
  }

  /** Opens the model that answers the lines. */
  abstract M open() throws IOException;

  /** Answers all lines. */
  abstract void answer(M model, JsonLineInput input, JsonLineOutput output)
      throws IOException, InterruptedException;

  void close(M model) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    try (JsonLineInput input = files.openInput(this)) {
      M model = open();
      try (JsonLineOutput output = files.openOutput(this)) {
        answer(model, input, output);
        if (output.errors() > 0) {
          err().println(output.errors() + " of " + output.lines() + " lines could not be answered");
        }
      } finally {
        close(model);
      }
    }
    return 0;
  }

  /** Answers one line. */
  @FunctionalInterface
  interface LineHandler {
    ObjectNode answer(JsonObject fields);
  }

  /** Answers line by line as they are read. */
  final void answerEach(JsonLineInput input, JsonLineOutput output, LineHandler handler)
      throws IOException {
    try (Progress progress = progress(spec.name())) {
      for (JsonLineInput.Line line = input.next(); line != null; line = input.next()) {
        if (line.error() != null) {
          output.writeError(line.error());
        } else {
          answerOne(line.fields(), output, handler);
        }
        progress.detail(output.lines() + " lines");
      }
    }
  }

  private static void answerOne(JsonObject fields, JsonLineOutput output, LineHandler handler) {
    try {
      output.write(handler.answer(fields));
    } catch (InvalidInputException | ChatTemplateException e) {
      output.writeError(Errors.line(e));
    }
  }
}
