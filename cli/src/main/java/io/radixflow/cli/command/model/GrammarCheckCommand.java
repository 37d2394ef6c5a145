package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.protocol.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;

/** Checks texts against grammars. */
@Command(
    name = "check",
    description = {
      "Check texts against grammars: JSON lines in, JSON lines out.",
      "{\"schema\"|\"regex\"|\"lark\"|\"gbnf\",\"whitespace\",\"text\"} gives "
          + "{\"accepted\":true} or {\"accepted\":false,\"at\"}: the offset in UTF-8 of the "
          + "first byte that no accepted text has there, or the text's length if the text is "
          + "incomplete."
    })
public final class GrammarCheckCommand extends GrammarLinesCommand {
  GrammarCheckCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    return answerAll();
  }

  @Override
  ObjectNode answer(Grammar grammar, JsonObject fields) {
    byte[] text = fields.require("text").text("text").getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    int at = matcher.acceptBytes(text);
    boolean accepted = at == text.length && matcher.canEnd();
    ObjectNode line = JsonLineOutput.object().put("accepted", accepted);
    return accepted ? line : line.put("at", at);
  }
}
