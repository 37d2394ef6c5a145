package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.text.template.ToolCall;
import org.junit.jupiter.api.Test;

/**
 * Actions of a user on single turns: files, tools, corrections, deletion, and continuing a reply.
 */
class ConsoleTurnsTest extends ChatPageFixture {

  private void attach(String name, String text) {
    page.eval(
        "(() => { const all = new DataTransfer(); all.items.add(new File([%s], %s));"
                .formatted(text, Page.quoted(name))
            + " const input = document.getElementById('file'); input.files = all.files;"
            + " input.dispatchEvent(new Event('change')); })()");
  }

  @Test
  void theSpeedOfAReplyIsShown() {
    FakeJob.Turn turn = ask("Hi").say("Hello");
    page.awaitText("Hello");
    turn.end("stop");
    awaitIdle();
    assertThat(page.text(".speed"))
        .containsPattern("tokens/s · first token after [\\d.]+ s · [\\d.]+ s in all");
  }

  @Test
  void textFilesGoWithTheMessageAndOthersAreRefused() {
    attach("notes.txt", "'remember the milk'");
    page.await("document.querySelectorAll('#files li').length === 1");
    attach("picture.png", "new Uint8Array([137, 80, 78, 71, 0, 255])");
    page.awaitText("picture.png is not a text file.");
    FakeJob.Turn turn = answered("What do I need?", "Milk.");
    assertThat(turn.message())
        .isEqualTo("File notes.txt:\n```\nremember the milk\n```\n\nWhat do I need?");
    assertThat(page.text(".user .attached summary")).isEqualTo("notes.txt");
    assertThat(page.count("#files li")).isZero();
  }

  @Test
  void callsAreAnsweredWithResultsThatTheUserGives() {
    ask("Is it warm?").call(new ToolCall("c1", "weather", "{\"city\":\"Rome\"}")).end("tool_calls");
    awaitIdle();
    page.await("document.querySelector('.results textarea')");
    page.eval("document.querySelector('.results textarea').focus()");
    page.type("27 degrees");
    page.click(".results .primary");
    FakeJob.Turn next = job.next();
    assertThat(next.event().messages()).hasSize(1);
    assertThat(next.event().messages().get(0).role()).isEqualTo("tool");
    assertThat(next.event().messages().get(0).toolCallId()).isEqualTo("c1");
    assertThat(next.message()).isEqualTo("27 degrees");
    next.say("Yes, it is.").end("stop");
    awaitIdle();
    page.awaitText("Result of weather");
    assertThat(page.count(".results")).isZero();
  }

  @Test
  void samplingSchemaAndToolsGoWithTheNextTurn() {
    page.click("#settings-button");
    page.eval(
        """
        for (const [id, value] of Object.entries({ topP: "0.9", seed: "7", "stop-texts": "END\\nSTOP",
          schema: '{"type": "object"}', tools: '[{"type": "function", "name": "f", "parameters": {}}' }))
          document.getElementById(id).value = value;
        0
        """);
    page.click("#settings button[value='save']");
    page.await("!document.getElementById('tools').validity.valid");
    page.eval(
        "document.getElementById('tools').value += ']';"
            + " document.getElementById('tools').dispatchEvent(new Event('input'))");
    page.click("#settings button[value='save']");
    page.await("!document.getElementById('settings').open");
    FakeJob.Turn turn = answered("Hi", "{}");
    assertThat(turn.event().options().topP()).isEqualTo(0.9);
    assertThat(turn.event().options().seed()).isEqualTo(7);
    assertThat(turn.event().options().stop()).containsExactly("END", "STOP");
    assertThat(turn.event().options().tools()).contains("\"name\":\"f\"");
    assertThat(turn.event().options().responseFormat()).isNotNull();
  }

  @Test
  void aSystemPromptIsKeptUnderItsFirstWords() {
    page.click("#settings-button");
    page.eval("document.getElementById('system').value = 'Be brief.'");
    page.click("#keep-preset");
    page.eval("document.getElementById('system').value = ''");
    page.eval(
        "(() => { const s = document.getElementById('preset'); s.value = 'Be brief.';"
            + " s.dispatchEvent(new Event('change')); })()");
    page.await("document.getElementById('system').value === 'Be brief.'");
    page.click("#forget-preset");
    page.await("document.getElementById('preset').disabled");
  }

  @Test
  void aReplyThatTheUserCorrectsIsWhatTheNextTurnFollows() {
    answered("Capital of Australia?", "Sydney.");
    page.click("[aria-label='Edit reply']");
    page.eval("document.activeElement.select()");
    page.type("Canberra.");
    page.press("Enter");
    page.awaitText("Canberra.");
    assertThat(page.text(".count")).isEqualTo("2/2");
    FakeJob.Turn next = answered("Sure?", "Yes.");
    assertThat(next.event().messages().stream().map(message -> message.content()))
        .containsExactly("Capital of Australia?", "Canberra.", "Sure?");
  }

  @Test
  void aReplyThatALimitCutGoesOnAsAnotherVersion() {
    ask("Count").say("one two").end("length");
    awaitIdle();
    page.click("[aria-label='Continue the reply']");
    FakeJob.Turn next = job.next();
    assertThat(next.event().options().continueFinalMessage()).isTrue();
    assertThat(next.event().messages().stream().map(message -> message.content()))
        .containsExactly("Count", "one two");
    next.say(" three").end("stop");
    awaitIdle();
    page.awaitText("one two three");
    assertThat(page.text(".count")).isEqualTo("2/2");
    FakeJob.Turn third = answered("More", "four");
    assertThat(third.event().previousTurn()).isEqualTo(next.event().turn());
    assertThat(third.event().messages()).hasSize(1);
  }

  @Test
  void aTurnIsDeletedWithAllThatFollowsIt() {
    answered("One", "1");
    answered("Two", "2");
    answered("Three", "3");
    page.eval("document.querySelectorAll('.reply .tools [aria-label^=\"Delete\"]')[1].click()");
    page.click("#confirm button[value='delete']");
    page.await("document.querySelectorAll('.turn').length === 1");
    assertThat(page.eval("Object.values(localStorage).join().includes('Three')").asBoolean())
        .isFalse();
  }

  @Test
  void theMiddleOfALongConversationIsFoldedInTheTree() {
    page.eval(
        """
        (() => {
          const turns = {};
          for (let i = 1; i <= 50; i++) turns[`t${i}`] = { id: `t${i}`, number: i, parent: i === 1 ? null : `t${i - 1}`,
            chosen: i === 50 ? null : `t${i + 1}`, user: `message ${i}`, reply: "r", status: "completed", response: "r", settings: {} };
          localStorage["radixflow.chat.x"] = JSON.stringify({ id: "x", name: "Long", roots: [], chosen: "t1", turns, settings: {} });
          localStorage["radixflow.chats"] = JSON.stringify([{ id: "x", name: "Long" }]);
          sessionStorage.removeItem("radixflow.open");
        })()
        """);
    page.reload();
    page.click("#tree-button");
    assertThat(page.text("#tree summary")).isEqualTo("… 44 turns");
    assertThat(
            page.eval(
                    "[...document.querySelectorAll('#tree .node')].filter((e) =>"
                        + " e.checkVisibility()).length")
                .asInt())
        .isEqualTo(6);
    assertThat(page.accessibilityViolations()).isEmpty();
  }

  @Test
  void anExampleFillsTheMessage() {
    page.click(".examples button");
    assertThat(page.eval("document.getElementById('message').value").asText()).isNotBlank();
  }
}
