package io.radixflow.text.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.text.TextModel;
import io.radixflow.text.tokenizer.JsonLines;
import io.radixflow.text.tokenizer.SmolLm2;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Prompts of template.jsonl, made with Jinja2 and an independent tokenizer. */
@Tag("model")
class ChatTemplateConformanceTest {

  @Test
  void everyConversationHasTheReferencesTextAndIds() {
    List<JsonNode> lines = JsonLines.read("template.jsonl");
    assertThat(lines).hasSize(25);
    ChatTemplate template = TextModel.fromGguf(SmolLm2.metadata()).chatTemplate();
    for (JsonNode line : lines) {
      List<Message> messages = messages(line.get("messages"));
      boolean prompt = line.get("addGenerationPrompt").booleanValue();
      assertThat(template.render(messages, prompt, TemplateOptions.NONE))
          .isEqualTo(line.get("text").textValue());
      assertThat(template.encode(messages, prompt, TemplateOptions.NONE))
          .as(messages.toString())
          .isEqualTo(JsonLines.ints(line.get("ids")));
    }
  }

  private static List<Message> messages(JsonNode array) {
    List<Message> messages = new ArrayList<>();
    for (JsonNode m : array) {
      messages.add(new Message(m.get("role").textValue(), m.get("content").textValue()));
    }
    return messages;
  }
}
