package io.radixflow.tools.cli.model;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.template.TemplateOptions;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.JsonLineInput;
import io.radixflow.tools.cli.common.JsonLineOutput;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;

/** Turns chat messages into prompts. */
@Command(
    name = "render",
    description = {
      "Turn chat messages into prompts: JSON lines in, JSON lines out.",
      "{\"messages\",\"addGenerationPrompt\"} gives {\"text\",\"ids\"}; special tokens are"
          + " recognised only where the chat template itself wrote them."
    })
public final class RenderCommand extends JsonLinesCommand {
  RenderCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  void answer(ServedModel model, JsonLineInput input, JsonLineOutput output) throws IOException {
    ChatTemplate template = model.chatTemplate();
    answerEach(input, output, fields -> render(template, fields));
  }

  private static ObjectNode render(ChatTemplate template, JsonObject fields) {
    List<ChatMessage> messages = Dialog.messages(fields);
    boolean generate = fields.bool("addGenerationPrompt", true);
    ObjectNode line = JsonLineOutput.object();
    line.put("text", template.render(messages, generate, TemplateOptions.NONE));
    line.set(
        "ids", JsonLineOutput.array(template.encode(messages, generate, TemplateOptions.NONE)));
    return line;
  }
}
