package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.gateway.auth.ApiKey;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConsoleChatTest extends ChatPageFixture {

  private List<String> messages() {
    return page.eval(
            "[...document.querySelectorAll('.user .text')].map((e) => e.innerText).join('|')")
        .asText()
        .lines()
        .toList();
  }

  @Test
  void reasoningAndCallsAreShownFoldedAndAsPlainText() {
    String markup = "{\"city\": \"<img src=x>\"}";
    ask("Is it warm?")
        .think("The user wants ")
        .think("<b>the weather</b>.")
        .say("I look.")
        .call(new ToolCall("c1", "weather", markup))
        .end("tool_calls");
    awaitIdle();
    assertThat(page.count(".reply .reasoning:not([open]):not([hidden])")).isEqualTo(1);
    assertThat(page.eval("document.querySelector('.reasoning p').textContent").asText())
        .isEqualTo("The user wants <b>the weather</b>.");
    assertThat(page.eval("document.querySelector('.calls summary').textContent").asText())
        .isEqualTo("Call of weather");
    assertThat(
            page.eval("JSON.parse(document.querySelector('.calls pre').textContent).city").asText())
        .isEqualTo("<img src=x>");
    assertThat(page.count(".reply img, .reply b")).isZero();
    assertThat(lastReply()).isEqualTo("I look.");
  }

  @Test
  void aReplyIsShownWhileItIsGeneratedAndTheNextTurnFollowsIt() {
    FakeJob.Turn first = ask("What is the capital of France?");
    first.say("The capital");
    page.awaitText("The capital");
    assertThat(page.count("#stop:not([hidden])")).isEqualTo(1);
    first.say(" is Paris.").end("stop");
    page.awaitText("The capital is Paris.");
    awaitIdle();
    FakeJob.Turn second = answered("And of Italy?", "Rome.");
    assertThat(second.event().session()).isEqualTo(first.event().session());
    assertThat(second.event().previousTurn()).isEqualTo(first.event().turn());
    assertThat(names()).containsExactly("What is the capital of France?");
    assertThat(page.text("#status")).isEqualTo("Reply: Rome.");
  }

  @Test
  void theShareOfThePromptThatWasCachedAndItsTiersAreShown() {
    answered("Hi", "Hello");
    assertThat(page.text(".usage"))
        .contains("75 of 100 prompt tokens cached", "50 device", "25 disk", "5 generated");
  }

  @Test
  void markdownIsRendered() {
    String reply =
        """
        # Title

        Some **bold** and `code` &amp; a [link](https://example.org/a).

        | a | b |
        |---|--:|
        | 1 | 2 |

        1. one
        2. two

        ```java
        int x = 1 < 2 ? 3 : 4;
        ```
        """;
    ask("Show").say(reply).end("stop");
    awaitIdle();
    page.await("document.querySelector('.reply pre code')");
    assertThat(page.text(".reply pre code").strip()).isEqualTo("int x = 1 < 2 ? 3 : 4;");
    assertThat(page.text(".reply figcaption span")).isEqualTo("java");
    assertThat(page.text(".reply strong")).isEqualTo("bold");
    assertThat(page.text(".reply .text p")).isEqualTo("Some bold and code & a link.");
    assertThat(page.count(".reply ol > li")).isEqualTo(2);
    assertThat(page.count(".reply td.right")).isEqualTo(1);
    assertThat(page.eval("document.querySelector('.reply a').rel").asText())
        .isEqualTo("noopener noreferrer");
  }

  @Test
  void lineBreaksOfAReplyAreKept() {
    ask("Show").say("one\ntwo").end("stop");
    awaitIdle();
    assertThat(page.count(".reply .text br")).isEqualTo(1);
  }

  @Test
  void markupInAReplyIsTextAndRunsNothing() {
    String reply =
        """
        <script>document.title = "owned"</script>

        <img src=x onerror="document.title='owned'"> and <b onclick=x>inline</b>

        [click](javascript:document.title='owned') [data](data:text/html,<script>1</script>)
        ![picture](https://evil.example/pixel.png)

        <iframe src="https://evil.example"></iframe> <style>body { display: none }</style>
        """;
    ask("Attack").say(reply).end("stop");
    awaitIdle();
    page.awaitText("document.title = \"owned\"");
    page.awaitText("iframe src");
    assertThat(page.count(".reply :is(script, img, iframe, style, b, object, form)")).isZero();
    assertThat(
            page.eval(
                    "[...document.querySelectorAll('.reply .text a')].map((a) =>"
                        + " a.protocol).join()")
                .asText())
        .isEqualTo("https:");
    assertThat(page.eval("document.title").asText()).isEqualTo("Radixflow");
  }

  @Test
  void anEditedMessageIsASiblingAndBothCanBeSwitchedBetween() {
    FakeJob.Turn first = answered("Hello", "Hi there");
    answered("Tell me about cats", "Cats purr.");
    page.eval("document.querySelectorAll('[aria-label=\"Edit message\"]')[1].click()");
    page.eval("document.activeElement.select()");
    page.type("Tell me about dogs");
    page.press("Enter");
    FakeJob.Turn edited = job.next();
    assertThat(edited.message()).isEqualTo("Tell me about dogs");
    assertThat(edited.event().previousTurn()).isEqualTo(first.event().turn());
    edited.say("Dogs bark.").end("stop");
    awaitIdle();
    page.awaitText("Dogs bark.");
    assertThat(messages()).containsExactly("Hello|Tell me about dogs");
    assertThat(page.text(".count")).isEqualTo("2/2");

    page.click("[aria-label='Previous version']");
    page.awaitText("Cats purr.");
    assertThat(messages()).containsExactly("Hello|Tell me about cats");
    FakeJob.Turn third = answered("More", "They sleep.");
    assertThat(third.event().previousTurn()).isNotEqualTo(edited.event().turn());

    page.click("#tree-button");
    assertThat(page.count("#tree .fork > li")).isEqualTo(2);
    assertThat(page.count("#tree .node")).isEqualTo(4);
    assertThat(page.count("#tree .node[aria-current]")).isEqualTo(3);
    page.eval("[...document.querySelectorAll('#tree .node')].at(-1).click()");
    page.awaitText("Dogs bark.");
    page.reload();
    page.awaitText("Dogs bark.");
    page.click("[aria-label='Previous version']");
    page.awaitText("They sleep.");
  }

  @Test
  void aReplyIsGeneratedAgainAsASiblingAlsoTheFirst() {
    FakeJob.Turn first = answered("Hello", "One");
    page.click("[aria-label='Generate the reply again']");
    FakeJob.Turn again = job.next();
    assertThat(again.message()).isEqualTo("Hello");
    assertThat(again.event().session()).isNotEqualTo(first.event().session());
    again.say("Two").end("stop");
    awaitIdle();
    page.awaitText("Two");
    assertThat(page.text(".count")).isEqualTo("2/2");
  }

  @Test
  void stopEndsTheReplyAtTheJobAndKeepsWhatItHas() {
    FakeJob.Turn turn = ask("Count");
    turn.say("one two");
    page.awaitText("one two");
    page.click("#stop");
    page.awaitText("Stopped");
    awaitIdle();
    assertThat(lastReply()).isEqualTo("one two");
  }

  @Test
  void aPageThatIsLoadedAgainInTheMiddleOfAReplyGoesOnWithIt() {
    FakeJob.Turn turn = ask("Count");
    turn.say("one 😀 ");
    page.awaitText("one 😀");
    page.reload();
    page.awaitText("one 😀");
    turn.say("two ").say("three").end("stop");
    awaitIdle();
    page.awaitText("three");
    assertThat(lastReply()).isEqualTo("one 😀 two three");
  }

  @Test
  void aReplyThatEndedWhileThePageWasAwayIsShownWhole() {
    FakeJob.Turn turn = ask("Count");
    turn.say("one ");
    page.awaitText("one");
    page.go(gateway.uri("/live"));
    turn.say("two").end("stop");
    page.go(gateway.uri("/"));
    awaitIdle();
    page.awaitText("one two");
    assertThat(lastReply()).isEqualTo("one two");
  }

  @Test
  void severalConversationsAreKeptRenamedAndDeletedAtTheServer() {
    FakeJob.Turn first = answered("First", "Reply one");
    page.click("#new");
    answered("Second", "Reply two");
    assertThat(names()).containsExactly("Second", "First");
    page.eval("document.getElementById('name').select()");
    page.type("Renamed");
    page.press("Enter");
    page.await(
        "[...document.querySelectorAll('#chats .label')].map((e) => e.textContent).join() ==="
            + " 'Renamed,First'");
    page.eval("[...document.querySelectorAll('#chats button')].at(-1).click()");
    page.awaitText("Reply one");
    page.click("#delete");
    page.click("#confirm button[value='delete']");
    page.await(
        "[...document.querySelectorAll('#chats .label')].map((e) => e.textContent).join() ==="
            + " 'Renamed'");
    assertThat(List.of(job.nextErased(), job.nextErased())).contains(first.event().session());
    assertThat(page.eval("Object.values(localStorage).join().includes('Reply one')").asBoolean())
        .isFalse();
  }

  @Test
  void settingsGoWithTheNextTurn() {
    page.click("#settings-button");
    page.eval("document.getElementById('system').focus()");
    page.type("Be brief.");
    page.eval("document.getElementById('temperature').focus()");
    page.type("0.5");
    page.eval("document.getElementById('maxTokens').focus()");
    page.type("7");
    page.click("#settings button[value='save']");
    page.await("JSON.parse(localStorage.getItem('radixflow.settings')).maxTokens === 7");
    FakeJob.Turn turn = answered("Hi", "Yo");
    assertThat(turn.event().messages().get(0).content()).isEqualTo("Be brief.");
    assertThat(turn.event().options().temperature()).isEqualTo(0.5);
    assertThat(turn.event().options().maxTokens()).isEqualTo(7);
  }

  @Test
  void whatWentWrongIsSaidAndCanBeTriedAgain() {
    FakeJob.Turn turn = ask("Hi");
    turn.end("error");
    page.await("document.querySelector('.reply .error:not([hidden])')");
    assertThat(page.text(".reply .error")).isNotBlank();
    page.click("[aria-label='Generate the reply again']");
    job.next().say("Better").end("stop");
    awaitIdle();
    page.awaitText("Better");
  }

  @Test
  void aGatewayWithKeysAsksForOneAndKeepsItInTheTab() throws IOException {
    Path keys = directory.resolve("keys.jsonl");
    ApiKey.Made key = ApiKey.make("acme", List.of(), 0, 0);
    Files.writeString(keys, key.line().toJson());
    job.close();
    gateway.restart("gateway.port=0", "model=sim", "gateway.api-keys=" + keys);
    job = new FakeJob(gateway.topics());
    page.go(gateway.uri("/"));
    page.await("document.getElementById('key-dialog').open");
    page.eval("document.getElementById('key-value').focus()");
    page.type(key.text());
    page.press("Enter");
    page.await("document.getElementById('served').textContent === 'sim'");
    FakeJob.Turn turn = answered("Hi", "Hello");
    assertThat(turn.event().tenant()).isEqualTo("acme");
    assertThat(page.eval("Object.values(localStorage).join() + location.href").asText())
        .doesNotContain(key.text());
  }

  @Test
  void everythingCanBeDoneWithTheKeyboard() {
    page.type("Hello");
    page.press("Enter");
    job.next().say("Hi").end("stop");
    awaitIdle();
    page.tabTo("[aria-label='Edit message']");
    page.press("Enter");
    page.eval("document.activeElement.select()");
    page.type("Goodbye");
    page.press("Enter");
    job.next().say("Bye").end("stop");
    awaitIdle();
    page.tabTo("[aria-label='Previous version']");
    page.press(" ");
    page.await("document.querySelector('.user .text').innerText === 'Hello'");
    page.tabTo("#tree-button");
    page.press("Enter");
    page.tabTo("#tree .node");
    page.tabTo("#settings-button");
    page.press("Enter");
    page.await("document.getElementById('settings').open");
    page.press("Escape");
    page.await("!document.getElementById('settings').open");
    page.tabTo("#message");
    page.type("Long");
    page.press("Enter");
    job.next().say("la la");
    page.awaitText("la la");
    page.press("Escape");
    page.awaitText("Stopped");
  }

  @Test
  void aPhoneShowsThePageWithoutScrollingSideways() {
    page.viewport(360, 740);
    String code = "```\n" + "x".repeat(200) + "\n```\n\n" + "w".repeat(150) + "\n\n";
    answered(
        "A message " + "y".repeat(120), code + "| a |\n|---|\n| " + "z".repeat(90) + " |\n\nEnd.");
    for (String shown : List.of("", "#side-button", "#tree-button")) {
      if (!shown.isEmpty()) {
        page.click(shown);
      }
      assertThat(page.eval("document.documentElement.scrollWidth").asInt()).isEqualTo(360);
    }
    assertThat(
            page.eval("document.getElementById('message').getBoundingClientRect().width").asInt())
        .isGreaterThan(200);
  }

  @Test
  void noRuleOfAccessibilityIsBrokenInLightOrDark() {
    assertThat(page.accessibilityViolations()).isEmpty();
    answered("Show", "# T\n\nText `code` [link](https://example.org)\n\n```\ncode\n```\n");
    page.click("[aria-label='Generate the reply again']");
    job.next().say("Other").end("length");
    awaitIdle();
    page.awaitText("Cut off");
    page.click("#tree-button");
    for (String scheme : List.of("light", "dark")) {
      page.prefers(scheme);
      assertThat(page.accessibilityViolations()).as(scheme).isEmpty();
    }
    page.click("#settings-button");
    assertThat(page.accessibilityViolations()).isEmpty();
  }
}
