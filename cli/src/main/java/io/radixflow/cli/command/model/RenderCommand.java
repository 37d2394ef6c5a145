package io.radixflow.cli.command.model;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.JsonLineInput;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.protocol.json.InvalidInputException;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.text.TextModel;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.JinjaRenderer;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Turns chat messages into prompts. */
@Command(
    name = "render",
    description = {
      "Turn chat messages into prompts: JSON lines in, JSON lines out.",
      "{\"messages\",\"addGenerationPrompt\"} gives {\"text\",\"ids\"}; special tokens are"
          + " recognised only where the chat template itself wrote them.",
      "With --template, a Jinja file renders raw messages, as transformers does:"
          + " {\"messages\",\"tools\",\"kwargs\",\"bos_token\",\"eos_token\",\"date\"} gives"
          + " {\"text\"} or {\"error\"}."
    })
public final class RenderCommand extends JsonLinesCommand<TextModel> {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The date for templates if a line has none. */
  private static final LocalDate DATE = LocalDate.of(2024, 7, 26);

  @Option(
      names = "--template",
      paramLabel = "FILE",
      description = "A chat template to use instead of the model's; no model is opened.")
  Path template;

  RenderCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (template == null) {
      return super.call();
    }
    JinjaRenderer renderer = new JinjaRenderer(Files.readString(template), Map.of());
    try (JsonLineInput input = files.openInput(this);
        JsonLineOutput output = files.openOutput(this)) {
      for (JsonLineInput.Line line = input.next(); line != null; line = input.next()) {
        try {
          if (line.error() != null) {
            throw new InvalidInputException(line.error());
          }
          output.write(JsonLineOutput.object().put("text", renderRaw(renderer, line.fields())));
        } catch (InvalidInputException | ChatTemplateException e) {
          output.writeError(e.getMessage());
        }
      }
    }
    return 0;
  }

  private static String renderRaw(JinjaRenderer renderer, JsonObject fields) {
    Map<String, Object> variables = new HashMap<>();
    variables.put("bos_token", plain(fields, "bos_token", Object.class));
    variables.put("eos_token", plain(fields, "eos_token", Object.class));
    Map<?, ?> further = plain(fields, "kwargs", Map.class);
    if (further != null) {
      further.forEach((name, value) -> variables.put(name.toString(), value));
    }
    List<?> messages = plain(fields, "messages", List.class);
    if (messages == null) {
      throw new InvalidInputException("messages is missing");
    }
    return renderer.render(
        messages, plain(fields, "tools", List.class), variables, date(fields.text("date")));
  }

  private static LocalDateTime date(String date) {
    try {
      return (date == null ? DATE : LocalDate.parse(date)).atStartOfDay();
    } catch (DateTimeException e) {
      throw new InvalidInputException("date is not of the form 2026-11-23");
    }
  }

  /** Returns a field as maps, lists and plain values, or null if it is absent. */
  private static <T> T plain(JsonObject fields, String name, Class<T> type) {
    JsonNode value = fields.get(name);
    try {
      return value == null ? null : JSON.treeToValue(value, type);
    } catch (JsonProcessingException e) {
      throw new InvalidInputException(name + " is not of the right type");
    }
  }

  @Override
  TextModel open() throws IOException {
    return modelOptions.openText(this);
  }

  @Override
  void answer(TextModel model, JsonLineInput input, JsonLineOutput output) throws IOException {
    ChatTemplate chatTemplate = model.chatTemplate();
    answerEach(input, output, fields -> render(chatTemplate, fields));
  }

  private static ObjectNode render(ChatTemplate template, JsonObject fields) {
    List<Message> messages = Dialog.messages(fields);
    boolean generate = fields.bool("addGenerationPrompt", true);
    ObjectNode line = JsonLineOutput.object();
    line.put("text", template.render(messages, generate, TemplateOptions.NONE));
    line.set(
        "ids", JsonLineOutput.array(template.encode(messages, generate, TemplateOptions.NONE)));
    return line;
  }
}
