package io.radixflow.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.simulate.OptimalHits;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConversationFormatTest {
  private static final String SYSTEM = "You are a patient teacher of rivers and of lakes.";
  private static final String FIRST = "Name the longest river of the continent, please.";
  private static final String ANSWER = "That depends on where one says that it begins.";
  private static final String SECOND = "Then name the two that could be meant by that.";

  /** Pages of one token, so that sizes are counts of tokens. */
  private static final WorkloadOptions TOKENS = TestWorkloads.pages(1);

  private static String open(String session, String more) {
    return "{\"type\":\"open\",\"session\":\"%s\"%s,\"messages\":[{\"role\":\"system\",\"content\":\"%s\"}]}\n"
        .formatted(session, more, SYSTEM);
  }

  private static String message(String session, String turn, String text) {
    return message(session, turn, text, "");
  }

  private static String message(String session, String turn, String text, String more) {
    return "{\"session\":\"%s\",\"turn\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]%s}\n"
        .formatted(session, turn, text, more);
  }

  private static String event(String type, String session, String more) {
    return "{\"type\":\"%s\",\"session\":\"%s\"%s}\n".formatted(type, session, more);
  }

  private static String reply(String session, String turn, String text, String finish) {
    return "{\"session\":\"%s\",\"branch\":\"main\",\"turn\":\"%s\",\"attempt\":1,\"created\":1,\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\"},\"finish_reason\":\"%s\"}],\"usage\":{\"prompt_tokens\":100,\"prompt_tokens_details\":{\"cached_tokens\":25}}}\n"
        .formatted(session, turn, text, finish);
  }

  private static int tokens(String... texts) {
    int tokens = 0;
    for (String text : texts) {
      tokens += (text.length() + 3) / 4;
    }
    return tokens;
  }

  private static final int FIRST_PROMPT =
      tokens("system\n", SYSTEM, "user\n", FIRST, "assistant\n");

  private static long hits(Workload workload) {
    CacheWorkload requests = workload.requests();
    return new OptimalHits(requests).hits(requests.distinctBlocks());
  }

  @Test
  void aTurnsPromptBeginsWithTheTurnBeforeAndItsReply() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            open("s", "") + message("s", "1", FIRST) + message("s", "2", SECOND),
            reply("s", "1", ANSWER, "stop") + reply("s", "2", "Good.", "stop"));

    CacheWorkload requests = workload.requests();
    assertThat(requests.requests()).isEqualTo(2);
    // the last token of a prompt is computed in any case, that of a reply never
    assertThat(requests.inputs(0)).isEqualTo(FIRST_PROMPT - 1);
    assertThat(requests.size(0)).isEqualTo(FIRST_PROMPT + tokens(ANSWER) - 1);
    assertThat(requests.inputs(1))
        .isEqualTo(FIRST_PROMPT + tokens(ANSWER) + tokens("user\n", SECOND, "assistant\n") - 1);
    assertThat(hits(workload)).isEqualTo(requests.size(0));
    assertThat(workload.notes())
        .anySatisfy(note -> assertThat(note).contains("four characters"))
        .anySatisfy(note -> assertThat(note).contains("25.00 % of the prompts' tokens"))
        .noneSatisfy(note -> assertThat(note).contains("no reply"));
  }

  @Test
  void withAModelThePromptsAreTheJobsOwn() throws IOException {
    List<Message> chat =
        List.of(
            new Message("system", SYSTEM),
            new Message("user", FIRST),
            new Message("assistant", ANSWER),
            new Message("user", SECOND));
    try (ServedModel sim = ModelLoader.open(ModelLoader.SIM, Path::of)) {
      Workload workload =
          TestWorkloads.text(
              new WorkloadOptions(1, 512, 60, 1, sim),
              open("s", "") + message("s", "1", FIRST) + message("s", "2", SECOND),
              reply("s", "1", ANSWER, "stop") + reply("s", "2", "Good.", "stop"));

      CacheWorkload requests = workload.requests();
      int first = sim.chatTemplate().encode(chat.subList(0, 2), true, TemplateOptions.NONE).length;
      int second = sim.chatTemplate().encode(chat, true, TemplateOptions.NONE).length;
      assertThat(requests.inputs(0)).isEqualTo(first - 1);
      assertThat(requests.inputs(1)).isEqualTo(second - 1);
      assertThat(hits(workload)).isEqualTo(requests.size(0)).isGreaterThan(first);
      assertThat(workload.notes().get(0)).endsWith("of sim");
    }
  }

  @Test
  void sessionsShareASystemPromptButTenantsAndSaltsDoNot() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            open("a", "")
                + open("b", "")
                + open("c", ",\"tenant\":\"t\"")
                + open("d", ",\"tenant\":\"t\",\"cache_salt\":\"x\"")
                + message("a", "1", "One.")
                + message("b", "1", "Two.")
                + message("c", "1", "One.")
                + message("d", "1", "One."));

    assertThat(hits(workload)).isEqualTo(tokens("system\n", SYSTEM, "user\n"));
    assertThat(workload.notes())
        .anySatisfy(note -> assertThat(note).startsWith("4 turns have no reply here"));
  }

  @Test
  void aRegenerationAsksForThePromptAgainAndItsReplyTakesThePlace() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            message("s", "1", FIRST)
                + reply("s", "1", ANSWER, "stop")
                + event("regenerate", "s", ",\"turn\":\"again\"")
                + reply("s", "again", "Something else.", "stop")
                + message("s", "2", SECOND)
                + reply("s", "2", "Good.", "stop"));

    CacheWorkload requests = workload.requests();
    assertThat(requests.inputs(1)).isEqualTo(requests.inputs(0));
    assertThat(requests.inputs(2))
        .isEqualTo(requests.size(1) + tokens("user\n", SECOND, "assistant\n"));
    assertThat(hits(workload)).isEqualTo(requests.inputs(1) + requests.size(1));
  }

  @Test
  void aForkGoesOnFromATurnOfItsBranch() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            message("s", "1", FIRST)
                + reply("s", "1", ANSWER, "stop")
                + message("s", "2", SECOND)
                + reply("s", "2", "Good.", "stop")
                + event("fork", "s", ",\"new_branch\":\"b\",\"at_turn\":\"1\"")
                + message("s", "3", "Now another thing.", ",\"branch\":\"b\"")
                + reply("s", "3", "Fine.", "stop")
                + message("s", "4", "No branch.", ",\"branch\":\"c\""));

    CacheWorkload requests = workload.requests();
    assertThat(requests.requests()).isEqualTo(3);
    assertThat(requests.inputs(2))
        .isEqualTo(requests.size(0) + tokens("user\n", "Now another thing.", "assistant\n"));
    assertThat(workload.notes())
        .anySatisfy(note -> assertThat(note).startsWith("1 turns were refused"));
  }

  @Test
  void turnsThatNeverRanOrWereNotRememberedAreNoPartOfLaterPrompts() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            message("s", "1", "Rejected.")
                + reply("s", "1", "", "rejected")
                + message("s", "2", "Failed.")
                + reply("s", "2", "half a re", "error")
                + message("s", "3", FIRST)
                + reply("s", "3", ANSWER, "cancelled")
                + message("s", "3", "A resend is ignored.")
                + message("s", "4", SECOND)
                + reply("s", "4", "", "cancelled")
                + event("close", "s", "")
                + message("s", "5", "Too late."));

    CacheWorkload requests = workload.requests();
    assertThat(requests.requests()).isEqualTo(3);
    assertThat(requests.inputs(1)).isEqualTo(tokens("user\n", FIRST, "assistant\n") - 1);
    assertThat(requests.inputs(2))
        .isEqualTo(requests.size(1) + tokens("user\n", SECOND, "assistant\n"));
  }

  @Test
  void eventsWithTimesRunInTheirOrder() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            "CreateTime:2000\t" + message("s", "2", SECOND) + "CreateTime:1000\t" + open("s", ""),
            "CreateTime:1500\t" + message("s", "1", FIRST),
            reply("s", "1", ANSWER, "stop"));

    assertThat(workload.requests().inputs(0)).isEqualTo(FIRST_PROMPT - 1);
  }

  @Test
  void invalidEventsAreLeftOutAndTheFirstIsNamed() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TOKENS,
            message("s", "1", FIRST)
                + "{\"session\":\"s\",\"type\":\"mesage\"}\n"
                + "{\"session\":\"s\",\"turn\":\"2\",\"messages\":[]}\n");

    assertThat(workload.notes())
        .anySatisfy(
            note ->
                assertThat(note)
                    .startsWith("2 events are invalid")
                    .contains("file1, line 2: type is \"mesage\""));
  }

  @Test
  void aRecordOfAnotherTopicIsRefused() {
    assertThatThrownBy(
            () ->
                TestWorkloads.text(
                    TOKENS,
                    message("s", "1", FIRST)
                        + "{\"session\":\"s\",\"turn\":\"1\",\"offset\":0,\"text\":\"a\"}\n"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("file1, line 2: an event or a reply");
  }

  @Test
  void aReplyWithoutTextOrFinishReasonIsRefused() {
    assertThatThrownBy(
            () -> TestWorkloads.text(TOKENS, "{\"session\":\"s\",\"turn\":\"1\",\"choices\":[]}\n"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("message.content and finish_reason");
  }
}
