package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.PromptException;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.text.prompt.PromptEnd;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;

class PromptBoundProperties {
  private static final SimModel MODEL = SimModel.open(SimOptions.DEFAULT);

  private final AtomicInteger longest = new AtomicInteger();

  /** Counts the messages of the longest conversation that the template was given. */
  private final ChatTemplate template =
      new ChatTemplate() {
        @Override
        public String render(List<Message> messages, boolean opens, TemplateOptions options) {
          return MODEL.chatTemplate().render(messages, opens, options);
        }

        @Override
        public int[] encode(List<Message> messages, boolean opens, TemplateOptions options) {
          longest.accumulateAndGet(messages.size(), Math::max);
          return MODEL.chatTemplate().encode(messages, opens, options);
        }

        @Override
        public int[] encodeTurn(
            List<Message> before, List<Message> added, TemplateOptions options) {
          return MODEL.chatTemplate().encodeTurn(before, added, options);
        }
      };

  private PromptAssembly assembly(List<Message> added) {
    return new PromptAssembly(
        MODEL.tokenizer(),
        template,
        Conversation.of(null, List.of()),
        added,
        PromptOptions.NONE,
        new PromptAssembly.Window(
            8192, 1, 1000, true, new PromptBound(template, MODEL.tokenizer())),
        PromptEnd.REPLY);
  }

  private void assertRefusedUnseen(List<Message> messages) {
    assertThatThrownBy(() -> assembly(messages).ids())
        .isInstanceOfSatisfying(
            PromptException.class,
            refused -> {
              assertThat(refused.error().code()).isEqualTo(ErrorCode.CONTEXT_LENGTH_EXCEEDED);
              assertThat(refused.error().promptTokens()).isGreaterThanOrEqualTo(8192);
              assertThat(refused.error().contextWindow()).isEqualTo(8192);
            })
        .hasMessageContaining("8192");
    assertThat(longest.get()).isLessThan(100);
  }

  @Example
  void manyShortMessagesAreRefusedBeforeTheTemplateRuns() {
    List<Message> messages = new ArrayList<>();
    for (int i = 0; i < 4500; i++) {
      messages.add(new Message("user", "x"));
      messages.add(new Message("assistant", "y"));
    }
    assertRefusedUnseen(messages);
  }

  @Example
  void aTextThatIsTooLongIsRefusedBeforeTheTemplateRuns() {
    assertRefusedUnseen(List.of(new Message("user", "a".repeat(9000))));
    longest.set(0);
  }

  /** Only letters count, as a template may trim what is around them. */
  @Example
  void blankTextIsNotCounted() throws PromptException {
    PromptBound bound = new PromptBound(template, MODEL.tokenizer());
    assertThat(bound.leastTokens(List.of(new Message("user", " \n".repeat(9000))))).isZero();
    assertThat(bound.leastTokens(List.of(new Message("system", "a".repeat(90))))).isOne();
  }

  @Property(tries = 200)
  void thePromptHasAtLeastAsManyTokens(@ForAll @Size(min = 1, max = 20) List<String> texts) {
    List<Message> messages = texts.stream().map(text -> new Message("user", text)).toList();
    int[] ids = MODEL.chatTemplate().encode(messages, true, TemplateOptions.NONE);
    PromptBound bound = new PromptBound(MODEL.chatTemplate(), MODEL.tokenizer());
    assertThat(bound.leastTokens(messages)).isLessThanOrEqualTo(ids.length);
  }
}
