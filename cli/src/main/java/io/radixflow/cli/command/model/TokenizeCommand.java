package io.radixflow.cli.command.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.text.TextModel;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.IOException;
import picocli.CommandLine.Command;

/** Turns texts into token ids. */
@Command(
    name = "tokenize",
    description = {
      "Turn texts into token ids: JSON lines in, JSON lines out.",
      "{\"text\"} gives {\"ids\",\"idsWithSpecial\"}: first as user text without special tokens, "
          + "then with all special tokens recognised."
    })
public final class TokenizeCommand extends JsonLinesCommand<TextModel> {
  TokenizeCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  TextModel open() throws IOException {
    return modelOptions.openText(this);
  }

  @Override
  void answer(TextModel model, JsonLineInput input, JsonLineOutput output) throws IOException {
    Tokenizer tokenizer = model.tokenizer();
    answerEach(input, output, fields -> tokenize(tokenizer, fields.require("text").text("text")));
  }

  private static ObjectNode tokenize(Tokenizer tokenizer, String text) {
    ObjectNode line = JsonLineOutput.object();
    line.set("ids", JsonLineOutput.array(tokenizer.encode(text)));
    line.set("idsWithSpecial", JsonLineOutput.array(tokenizer.encodeWithSpecial(text)));
    return line;
  }
}
