package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedSystemPromptTest {
  private static final String SYSTEM = "Be kind.";

  private final ChatTemplate template = SimModel.open(SimOptions.DEFAULT).chatTemplate();

  private int[] prompt(String system, String text) {
    return template.encode(
        List.of(new Message("system", system), new Message("user", text)),
        true,
        TemplateOptions.NONE);
  }

  private static int publicTokens(ChatTemplate template, int[] ids) throws Exception {
    SharedSystemPrompt shared = new SharedSystemPrompt(() -> ids, template, SYSTEM);
    assertThat(shared.ids()).isEqualTo(ids);
    return shared.publicTokens();
  }

  @Test
  void theSharedBeginningDependsOnTheSystemPromptAlone() throws Exception {
    int[] first = prompt(SYSTEM, "one");
    int[] second = prompt(SYSTEM, "another question");
    int shared = publicTokens(template, first);
    assertThat(shared).isPositive().isEqualTo(publicTokens(template, second));
    assertThat(Arrays.copyOf(first, shared)).isEqualTo(Arrays.copyOf(second, shared));
  }

  @Test
  void aPromptThatHasAnotherSystemPromptSharesOnlyWhatEveryPromptBeginsWith() throws Exception {
    int[] other = prompt("Zounds!", "one");
    assertThat(publicTokens(template, other))
        .isLessThan(publicTokens(template, prompt(SYSTEM, "one")));
  }

  @Test
  void aTemplateThatRefusesASystemPromptAloneSharesNothing() throws Exception {
    ChatTemplate picky =
        new ChatTemplate() {
          @Override
          public String render(
              List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
            throw new ChatTemplateException("a user's message is missing");
          }

          @Override
          public int[] encode(
              List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
            throw new ChatTemplateException("a user's message is missing");
          }

          @Override
          public int[] encodeTurn(
              List<Message> before, List<Message> added, TemplateOptions options) {
            return null;
          }
        };
    assertThat(publicTokens(picky, prompt(SYSTEM, "one"))).isZero();
  }
}
