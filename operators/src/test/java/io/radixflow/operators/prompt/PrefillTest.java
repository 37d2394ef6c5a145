package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.SimOptions;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.text.TextModel;
import io.radixflow.text.prompt.Prefill;
import io.radixflow.text.prompt.PromptText;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prompts that end within a reply, and how such replies are read. */
class PrefillTest {
  private static final String PLAIN =
      """
      {%- for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}\
      {%- endfor %}{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}\
      """;

  /** Opens the reasoning of each reply, and leaves it out of those that are there. */
  private static final String THINKING =
      PLAIN
              .replace("m.role + '\\n'", "m.role + '\\n' + ('' if m.role == 'user' else '')")
              .replace("'<|im_start|>assistant\\n'", "'<|im_start|>assistant\\n<think>\\n'")
          + "{#- </think> #}";

  /** Writes an empty reasoning before the last reply, as Qwen3 does. */
  private static final String EMPTY =
      """
      {%- for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}\
      {%- if m.role == 'assistant' and loop.last %}{{ '<think>\n\n</think>\n\n' }}{% endif %}\
      {{- m.content + '<|im_end|>\n' }}{%- endfor %}\
      {%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}\
      """;

  /** What the tokens of a prompt spell; its control tokens have no text. */
  private static final String QUESTION = "user\nHi\nassistant\n";

  @TempDir Path directory;

  private ThinkingModel model(String template) {
    return ThinkingModel.open(directory, SimOptions.DEFAULT, template);
  }

  private String prompt(String template, String content, String reasoning) {
    return prompt(template, new Message("assistant", content, null, List.of(), null, reasoning));
  }

  private String prompt(String template, Message last) {
    ThinkingModel model = model(template);
    PromptText prompts = new PromptText(TextModel.of(model.tokenizer(), model.chatTemplate()));
    PromptText.Options options =
        new PromptText.Options(TemplateOptions.NONE, null, true, true, true);
    List<Message> messages = List.of(new Message("user", "Hi"), last);
    StringBuilder text = new StringBuilder();
    for (int id : prompts.encode(messages, options)) {
      text.append(new String(model.tokenizer().bytes(id), StandardCharsets.ISO_8859_1));
    }
    return text.toString();
  }

  @Test
  void thePromptEndsWithTheContentOfTheLastMessage() {
    assertThat(prompt(PLAIN, "Hello, my ", null)).isEqualTo(QUESTION + "Hello, my ");
    assertThat(prompt(THINKING, "Hello", null)).isEqualTo(QUESTION + "Hello");
    assertThat(prompt(EMPTY, "Hello", null)).isEqualTo(QUESTION + "<think>\n\n</think>\n\nHello");
    assertThat(prompt(PLAIN.replace("m.content", "(m.content | trim)"), "Hello ", null))
        .isEqualTo(QUESTION + "Hello");
  }

  @Test
  void aSpecialTokenThatTheContentSpellsIsText() {
    ThinkingModel model = model(PLAIN);
    int[] ids = model.chatTemplate().encodeReply("a<|im_end|>");
    assertThat(ids).hasSize("a<|im_end|>".length());
  }

  @Test
  void reasoningGoesOnWhereItHasBegun() {
    assertThat(prompt(THINKING, "", "So ")).isEqualTo(QUESTION + "<think>\nSo ");
    assertThat(prompt(THINKING, "<think>\nSo", null)).isEqualTo(QUESTION + "<think>\nSo");
    assertThat(prompt(EMPTY, "<think>So", null)).isEqualTo(QUESTION + "<think>\nSo");
  }

  private ReplyParts parts(String template, String content, String reply) {
    ReplyReading reading = new ReplyReading(model(template));
    Prefill prefill = reading.prefill(PromptOptions.NONE, new Message("assistant", content));
    ReplyParts parts = reading.parts(PromptOptions.NONE, new int[0], "s", "t", prefill);
    for (char c : reply.toCharArray()) {
      parts.accept(String.valueOf(c));
    }
    parts.finish(false);
    return parts;
  }

  @Test
  void theReplyIsWhatComesAfterAndTheHistoryHasAllOfIt() {
    ReplyParts parts = parts(THINKING, "Hello", " <think> you\n");
    assertThat(parts.message()).isEqualTo(new Message("assistant", " <think> you\n"));
    assertThat(parts.whole()).isEqualTo(new Message("assistant", "Hello <think> you\n"));
  }

  @Test
  void reasoningThatHasBegunEndsWithItsMark() {
    for (String begun : List.of("<think>\nSo", "<think>So\n")) {
      ReplyParts parts = parts(THINKING, begun, " be it.\n</think>\n\nYes");
      assertThat(parts.message().content()).isEqualTo("Yes");
      assertThat(parts.message().reasoning()).isEqualTo(" be it.");
      assertThat(parts.whole().reasoning()).startsWith("So").endsWith(" be it.");
      assertThat(parts.whole().content()).isEqualTo("Yes");
    }
  }

  @Test
  void reasoningThatHasEndedIsNotPartOfTheReply() {
    ReplyParts parts = parts(THINKING, "<think>\nSo\n</think>\n\nWe", "ll");
    assertThat(parts.message()).isEqualTo(new Message("assistant", "ll"));
    assertThat(parts.whole())
        .isEqualTo(new Message("assistant", "Well", null, List.of(), null, "So"));
  }
}
