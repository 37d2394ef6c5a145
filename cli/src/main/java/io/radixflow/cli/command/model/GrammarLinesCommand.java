package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.JsonLineFiles;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.schema.Whitespace;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Mixin;

/**
 * A command that answers JSON lines, each of which has a grammar and a text. A grammar that is
 * refused gets {@code {"error": …}}.
 */
abstract class GrammarLinesCommand extends CliCommand {
  private static final List<String> KINDS = List.of("schema", "regex", "lark", "gbnf");

  @Mixin JsonLineFiles files;

  /** The grammar of the previous line, because the same grammar often comes again. */
  private String lastKey;

  private Grammar last;

  GrammarLinesCommand(CliEnvironment environment) {
    super(environment);
  }

  abstract ObjectNode answer(Grammar grammar, JsonObject fields);

  final int answerAll() throws IOException {
    try (JsonLineInput input = files.openInput(this);
        JsonLineOutput output = files.openOutput(this);
        Progress progress = progress(spec.name())) {
      for (JsonLineInput.Line line = input.next(); line != null; line = input.next()) {
        if (line.error() != null) {
          output.writeError(line.error());
        } else {
          answerOne(line.fields(), output);
        }
        progress.detail(output.lines() + " lines");
      }
      if (output.errors() > 0) {
        err().println(output.errors() + " of " + output.lines() + " lines could not be answered");
      }
    }
    return 0;
  }

  private void answerOne(JsonObject fields, JsonLineOutput output) {
    try {
      output.write(answer(grammar(fields), fields));
    } catch (InvalidInputException | GrammarException e) {
      output.writeError(Errors.line(e));
    }
  }

  private Grammar grammar(JsonObject fields) {
    List<String> given = KINDS.stream().filter(fields::has).toList();
    if (given.size() != 1) {
      throw new InvalidInputException("the line must have one of " + String.join(", ", KINDS));
    }
    String kind = given.get(0);
    String whitespace = fields.has("whitespace") ? fields.text("whitespace") : "compact";
    JsonNode source = fields.get(kind);
    String key = kind + ' ' + whitespace + ' ' + source;
    if (!key.equals(lastKey)) {
      last =
          compile(kind, kind.equals("schema") ? source.toString() : fields.text(kind), whitespace);
      lastKey = key;
    }
    return last;
  }

  private static Grammar compile(String kind, String source, String whitespace) {
    return switch (kind) {
      case "schema" -> Grammar.jsonSchema(source, whitespace(whitespace));
      case "regex" -> Grammar.regex(source);
      case "lark" -> Grammar.lark(source);
      default -> Grammar.gbnf(source);
    };
  }

  private static Whitespace whitespace(String name) {
    return switch (name) {
      case "compact" -> Whitespace.COMPACT;
      case "any" -> Whitespace.ANY;
      default -> throw new InvalidInputException("whitespace must be compact or any");
    };
  }
}
