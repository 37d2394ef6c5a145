package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.PromptException;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.operators.prompt.PromptAssembly.Window;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.operators.session.Turn;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class PromptAssemblyTest {
  private static final Window WIDE = new Window(100_000, 1, 1_000, true);

  private final SimModel model = SimModel.open(SimOptions.DEFAULT);
  private final CanonicalReply canonical = new CanonicalReply(model);

  private static List<Message> user(String text) {
    return List.of(new Message("user", text));
  }

  private PromptAssembly assembly(Conversation conversation, String text, Window window) {
    return assembly(model.chatTemplate(), conversation, text, window);
  }

  private PromptAssembly assembly(
      ChatTemplate template, Conversation conversation, String text, Window window) {
    return new PromptAssembly(
        model.tokenizer(), template, conversation, user(text), PromptOptions.NONE, window);
  }

  /** The conversation after one more turn, made as the operator makes it. */
  private Conversation after(
      Conversation before, PromptAssembly assembly, String text, String reply) throws Exception {
    assembly.ids();
    Prompt prompt = assembly.prompt();
    int[] replyIds = canonical.ids(model.tokenizer().encode(reply), reply);
    int[] ids =
        Arrays.copyOfRange(prompt.ids(), prompt.keep(), prompt.ids().length + replyIds.length);
    System.arraycopy(replyIds, 0, ids, prompt.ids().length - prompt.keep(), replyIds.length);
    List<Turn> path = new ArrayList<>(before.path());
    long id = before.depth() + 1;
    path.add(
        new Turn(
            id,
            id - 1,
            before.depth(),
            "t" + id,
            "t" + id,
            user(text),
            null,
            0,
            new Message("assistant", reply),
            "stop",
            null,
            prompt.keep(),
            ids,
            prompt.tokenizer(),
            "",
            prompt.dropped(),
            Turn.ROOT,
            null,
            false));
    return Conversation.of(before.system(), path);
  }

  private Conversation grown(int turns, Window window) throws Exception {
    Conversation conversation = new Conversation("Be kind.", 0, List.of());
    for (int i = 0; i < turns; i++) {
      String text = "question " + i;
      conversation = after(conversation, assembly(conversation, text, window), text, "answer " + i);
    }
    return conversation;
  }

  @Test
  void anExtendedPromptEqualsTheWholeConversationEncodedAgain() throws Exception {
    Conversation conversation = grown(5, WIDE);
    PromptAssembly extended = assembly(conversation, "next", WIDE);
    int[] whole =
        model
            .chatTemplate()
            .encode(conversation.messages(0, user("next")), true, TemplateOptions.NONE);
    assertThat(extended.ids()).isEqualTo(whole);
    int[] before = conversation.canonicalIds(model.tokenizer().fingerprint());
    assertThat(extended.prompt().keep()).isEqualTo(before.length);
    assertThat(conversation.path().get(4).ids()).hasSizeLessThan(60);
  }

  @Test
  void anotherTokenizersIdsAreNotUsed() throws Exception {
    Conversation conversation = grown(2, WIDE);
    assertThat(conversation.canonicalIds("other")).isNull();
  }

  @Test
  void aTemplateThatRewritesEarlierTurnsKeepsOnlyTheCommonPrefix() throws Exception {
    ChatTemplate forgetful = new Rewriting(model.chatTemplate());
    Conversation conversation = grown(2, WIDE);
    PromptAssembly assembly = assembly(forgetful, conversation, "next", WIDE);
    int[] before = conversation.canonicalIds(model.tokenizer().fingerprint());
    int[] ids = assembly.ids();
    assertThat(ids)
        .isEqualTo(
            forgetful.encode(conversation.messages(0, user("next")), true, TemplateOptions.NONE));
    assertThat(assembly.prompt().keep())
        .isEqualTo(Arrays.mismatch(before, ids))
        .isPositive()
        .isLessThan(before.length);
    Conversation next = after(conversation, assembly, "next", "done");
    assertThat(next.canonicalIds(model.tokenizer().fingerprint())).startsWith(ids);
  }

  @Test
  void aConversationThatOutgrowsTheWindowDropsItsOldestTurnsDownToHalfOfIt() throws Exception {
    Window window = new Window(400, 20, 1_000, true);
    Conversation conversation = grown(5, window);
    List<Integer> dropped = new ArrayList<>();
    for (int i = 5; i < 30; i++) {
      PromptAssembly assembly = assembly(conversation, "question " + i, window);
      int before = conversation.dropped();
      int[] ids = assembly.ids();
      Prompt prompt = assembly.prompt();
      assertThat(ids.length + 20).isLessThanOrEqualTo(400);
      assertThat(text(ids)).startsWith("|system\nBe kind.|").contains("question " + i);
      if (prompt.dropped() > before) {
        assertThat(ids).hasSizeLessThanOrEqualTo(200).hasSizeGreaterThan(120);
        assertThat(prompt.keep()).isZero();
        dropped.add(prompt.dropped());
      } else {
        assertThat(prompt.keep()).isPositive();
      }
      conversation = after(conversation, assembly, "question " + i, "answer " + i);
    }
    assertThat(dropped).hasSizeBetween(2, 8).isSorted();
  }

  @Test
  void turnsThatWereDroppedAndForgottenChangeNoPrompt() throws Exception {
    Window window = new Window(400, 20, 1_000, true);
    Conversation conversation = grown(20, window);
    int dropped = conversation.dropped();
    assertThat(dropped).isPositive();
    Conversation kept =
        Conversation.of(
            conversation.system(), conversation.path().subList(dropped, conversation.depth()));
    assertThat(kept.dropped()).isEqualTo(dropped);
    assertThat(assembly(kept, "next", window).ids())
        .isEqualTo(assembly(conversation, "next", window).ids());
  }

  @Test
  void aConversationThatOutgrowsTheWindowIsRefusedIfSoConfigured() throws Exception {
    Window window = new Window(150, 20, 1_000, false);
    Conversation conversation = grown(4, new Window(100_000, 1, 1_000, false));
    assertThatThrownBy(() -> assembly(conversation, "next", window).ids())
        .isInstanceOf(PromptException.class)
        .hasMessageContaining("context window of 150");
  }

  @Test
  void aTurnThatAloneExceedsTheWindowIsRefusedWithTheNumbers() throws Exception {
    Conversation conversation = grown(3, WIDE);
    Window window = new Window(150, 20, 1_000, true);
    assertThatThrownBy(() -> assembly(conversation, "x".repeat(1_000), window).ids())
        .isInstanceOf(PromptException.class)
        .hasMessageContaining("context window of 150")
        .hasMessageContaining("tokens");
  }

  @Test
  void withOtherToolsTheConversationIsEncodedAgainAndTheLossIsCounted() throws Exception {
    Conversation conversation = grown(2, WIDE);
    PromptAssembly same = assembly(conversation, "more", WIDE);
    same.ids();
    assertThat(same.prompt().rewritten()).isZero();
    String tools = "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
    PromptAssembly other =
        new PromptAssembly(
            model.tokenizer(),
            model.chatTemplate(),
            conversation,
            user("more"),
            PromptOptions.resolve(List.of(GenerationOptions.builder().tools(tools).build())),
            WIDE);
    other.ids();
    int before = conversation.canonicalIds(model.tokenizer().fingerprint()).length;
    assertThat(other.prompt().keep()).isLessThan(before);
    assertThat(other.prompt().rewritten()).isEqualTo(before - other.prompt().keep());
    assertThat(other.prompt().ids()).hasSizeGreaterThan(same.prompt().ids().length);
  }

  @Test
  void theErrorSaysWhatTheTemplateRefuses() {
    Conversation empty = new Conversation(null, 0, List.of());
    PromptAssembly assembly =
        new PromptAssembly(
            model.tokenizer(),
            model.chatTemplate(),
            empty,
            List.of(new Message("narrator", "Once")),
            PromptOptions.NONE,
            WIDE);
    assertThatThrownBy(assembly::ids)
        .isInstanceOf(PromptException.class)
        .hasMessageContaining("narrator");
  }

  /** Cuts the text of replies, as templates that drop thinking do. */
  private record Rewriting(ChatTemplate template) implements ChatTemplate {
    private static List<Message> rewritten(List<Message> messages) {
      return messages.stream()
          .map(m -> m.role().equals("assistant") ? new Message("assistant", "(cut)") : m)
          .toList();
    }

    @Override
    public String render(
        List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
      return template.render(rewritten(messages), addGenerationPrompt, options);
    }

    @Override
    public int[] encode(
        List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
      return template.encode(rewritten(messages), addGenerationPrompt, options);
    }

    @Override
    public int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options) {
      return null;
    }
  }

  /** Letters as they are, special tokens as a bar. */
  private static String text(int[] ids) {
    StringBuilder text = new StringBuilder();
    for (int id : ids) {
      text.append(id < 256 ? (char) id : '|');
    }
    return text.toString();
  }
}
