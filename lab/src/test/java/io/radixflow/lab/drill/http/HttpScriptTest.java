package io.radixflow.lab.drill.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

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

  @Test
  void aChatSendsAllThatWasSaidAndAResponseNamesItsPredecessor() {
    HttpScript.Step step = new HttpScript.Step("Ahoy", -1, 0, null, 9, true, -1, -1);
    HttpScript.Step next = new HttpScript.Step("And?", 0, 0, null, 9, true, -1, -1);
    Heard heard = new Heard("k", "s", "t", "resp_1", "Aye", "stop", List.of(), List.of());
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
