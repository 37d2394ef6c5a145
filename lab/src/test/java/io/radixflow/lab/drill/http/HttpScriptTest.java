package io.radixflow.lab.drill.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.text.template.ToolCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpScriptTest {

  private static final List<HttpScript> SCRIPTS =
      IntStream.range(0, 60).mapToObj(n -> HttpScript.of(1, n, 6, 50)).toList();

  @Test
  void aConversationIsAFunctionOfSeedAndNumber() {
    assertThat(HttpScript.of(3, 1, 6, 100)).isEqualTo(HttpScript.of(3, 1, 6, 100));
    assertThat(HttpScript.of(3, 1, 6, 100)).isNotEqualTo(HttpScript.of(3, 3, 6, 100));
    assertThat(HttpScript.of(4, 1, 6, 100)).isNotEqualTo(HttpScript.of(3, 1, 6, 100));
  }

  @Test
  void nothingFollowsACancelledTurn() {
    for (HttpScript script : SCRIPTS) {
      for (HttpScript.Step step : script.steps()) {
        if (step.after() != HttpScript.NONE) {
          assertThat(script.steps().get(step.after()).cancelAfter()).isEqualTo(HttpScript.NONE);
        }
      }
    }
  }

  @Test
  void conversationsHaveAllThatClientsDo() {
    List<HttpScript.Step> steps = SCRIPTS.stream().flatMap(s -> s.steps().stream()).toList();

    assertThat(SCRIPTS).anyMatch(HttpScript::chat).anyMatch(script -> !script.chat());
    assertThat(steps)
        .anyMatch(step -> !step.streamed())
        .anyMatch(step -> step.dropAfter() > 0)
        .anyMatch(step -> step.cancelAfter() > 0)
        .anyMatch(step -> step.seed() != null)
        .anyMatch(step -> step.temperature() == 0);
    assertThat(SCRIPTS)
        .anyMatch(s -> IntStream.range(2, 6).anyMatch(i -> s.steps().get(i).after() + 1 < i));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void someTurnsOfChatsAndOfResponsesAskForJsonOrForCalls(boolean chat) {
    for (TurnForm.Kind kind : TurnForm.Kind.values()) {
      assertThat(SCRIPTS.stream().filter(s -> s.chat() == chat).flatMap(s -> s.steps().stream()))
          .anyMatch(step -> step.form().kind() == kind);
    }
  }

  @Test
  void aSchemaIsAskedForAsEachApiHasIt() {
    TurnForm form = new TurnForm(TurnForm.Kind.STRUCTURED, 1);
    HttpScript.Step step = new HttpScript.Step("Ahoy", -1, form, 0, null, 9, true, -1, -1);
    JsonNode chat = HttpTurn.of(new HttpScript("n", true, List.of(step)), 0, Map.of()).body();
    JsonNode response = HttpTurn.of(new HttpScript("n", false, List.of(step)), 0, Map.of()).body();

    assertThat(chat.at("/response_format/json_schema/schema/required/0").asText())
        .isEqualTo("flags");
    assertThat(response.has("response_format")).isFalse();
    assertThat(response.at("/text/format/type").asText()).isEqualTo("json_schema");
    assertThat(response.at("/text/format/schema"))
        .isEqualTo(chat.at("/response_format/json_schema/schema"));
    assertThat(response.at("/text/format/strict").asBoolean()).isTrue();
  }

  @Test
  void whatFollowsACallGivesItsResult() {
    TurnForm form = new TurnForm(TurnForm.Kind.REQUIRED, 1);
    HttpScript.Step step = new HttpScript.Step("Ahoy", -1, form, 0, null, 9, true, -1, -1);
    HttpScript.Step next = new HttpScript.Step("x", 0, TurnForm.FREE, 0, null, 9, true, -1, -1);
    ToolCall call = new ToolCall("c1", "find_light", "{}");
    Map<Integer, Heard> said =
        Map.of(
            0,
            new Heard("k", "s", "t", "r", "", List.of(call), "tool_calls", List.of(), List.of()));

    HttpTurn chat = HttpTurn.of(new HttpScript("n", true, List.of(step, next)), 1, said);
    assertThat(chat.body().at("/messages").findValuesAsText("role"))
        .containsExactly("system", "user", "assistant", "tool");
    assertThat(chat.body().at("/messages/2/tool_calls/0/id").asText()).isEqualTo("c1");
    assertThat(chat.body().at("/messages/3/tool_call_id").asText()).isEqualTo("c1");
    HttpTurn response = HttpTurn.of(new HttpScript("n", false, List.of(step, next)), 1, said);
    assertThat(response.body().at("/input/0/call_id").asText()).isEqualTo("c1");
    HttpTurn first = HttpTurn.of(new HttpScript("n", false, List.of(step, next)), 0, Map.of());
    assertThat(first.body().at("/tool_choice").asText()).isEqualTo("required");
    assertThat(first.body().at("/tools/0/name").asText()).isEqualTo("find_light");
  }

  @Test
  void aChatSendsAllThatWasSaidAndAResponseNamesItsPredecessor() {
    HttpScript.Step step = new HttpScript.Step("Ahoy", -1, TurnForm.FREE, 0, null, 9, true, -1, -1);
    HttpScript.Step next = new HttpScript.Step("And?", 0, TurnForm.FREE, 0, null, 9, true, -1, -1);
    Heard heard =
        new Heard("k", "s", "t", "resp_1", "Aye", List.of(), "stop", List.of(), List.of());
    Map<Integer, Heard> said = new HashMap<>(Map.of(0, heard));

    HttpTurn chat = HttpTurn.of(new HttpScript("n", true, List.of(step, next)), 1, said);
    assertThat(chat.key()).isEqualTo("n-1");
    assertThat(chat.body().at("/messages").findValuesAsText("content"))
        .containsExactly(HttpScript.SYSTEM, "Ahoy", "Aye", "And?");
    HttpTurn response = HttpTurn.of(new HttpScript("n", false, List.of(step, next)), 1, said);
    assertThat(response.body().at("/previous_response_id").asText()).isEqualTo("resp_1");
    assertThat(response.body().at("/input").asText()).isEqualTo("And?");
  }
}
