package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.SessionRef;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.operators.session.TurnOptions;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.template.ToolCall;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NextPromptsTest {
  @TempDir Path directory;
  private ThinkingModel model;
  private NextPrompts next;

  @BeforeEach
  void open() {
    model = ThinkingModel.open(directory, SimOptions.DEFAULT);
    next = new NextPrompts(new ReplyReading(model));
  }

  @Test
  void aTemplateThatDropsThinkingIsRecognised() {
    assertThat(next.dropsThinking()).isTrue();
    ReplyReading sim = new ReplyReading(SimModel.open(SimOptions.DEFAULT));
    assertThat(new NextPrompts(sim).dropsThinking()).isFalse();
  }

  @Test
  void theNextPromptHasThePromptAndTheAnswerWithoutTheThinking() {
    assertThat(after("<think>\nhm\n</think>\n\nFour."))
        .isEqualTo(
            "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\nFour.<|im_end|>\n"
                + "<|im_start|>user\n");
  }

  @Test
  void thinkingThatIsAPartOfItsOwnIsDroppedToo() {
    ReplyReading reading = new ReplyReading(model);
    String thought = "<think>\nhm\n</think>\n\nFour.";
    ReplyParts parts = reading.parts(PromptOptions.NONE, new int[] {1}, "s", "t");
    parts.accept(thought);
    parts.finish(false);
    assertThat(parts.message().reasoning()).isNotNull();
    assertThat(after(thought, made -> reading.parts(PromptOptions.NONE, made.ids(), "s", "t")))
        .isEqualTo(after(thought));
  }

  @Test
  void callsAreContentForATemplateThatDoesNotKnowThem() {
    List<ToolCall> calls = List.of(new ToolCall("c", "f", "{\"a\": 1}"));
    Message call = new Message("assistant", null, null, calls, null, null);
    assertThat(
            new ReplyReading(model).template().render(List.of(call), false, TemplateOptions.NONE))
        .isEqualTo(
            "<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n"
                + "</tool_call><|im_end|>\n");
  }

  @Test
  void aReplyWithoutThinkingStaysAsItIs() {
    assertThat(after("Four.")).isNull();
  }

  private String after(String reply) {
    return after(reply, made -> ReplyParts.plain());
  }

  private String after(String reply, Function<Prompt, ReplyParts> reader) {
    Conversation conversation = new Conversation(null, 0, List.of());
    List<Message> question = List.of(new Message("user", "2+2?"));
    Prompt prompt = new Prompt(new int[] {1}, 0, 0, model.tokenizer().fingerprint());
    SessionRef.NextPrompt after =
        next.after(
            () -> prompt, conversation, question, TurnOptions.resolve(List.of(), 0, 1), reader);
    int[] ids = after.ids(model.tokenizer().encode(reply));
    if (ids == null) {
      return null;
    }
    StringBuilder text = new StringBuilder();
    for (int id : ids) {
      text.append(id == 256 ? "<|im_start|>" : id == 257 ? "<|im_end|>" : (char) id + "");
    }
    return text.toString();
  }
}
