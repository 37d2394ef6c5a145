package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Conversations that are searched, leave the browser, and come back into it. */
class ConsoleTransferTest extends ChatPageFixture {

  private static final String CATCH_DOWNLOADS =
      """
      window.saved = [];
      URL.createObjectURL = (blob) => { window.blob = blob; return "#saved"; };
      HTMLAnchorElement.prototype.click = function () { window.saved.push([this.download, window.blob]); };
      0
      """;

  private String saved(String button) {
    page.eval(CATCH_DOWNLOADS);
    page.click("#transfer-button");
    page.click(button);
    page.eval("document.getElementById('transfer').close()");
    return page.eval("saved[0][1].text()").asText();
  }

  private void importFile(String text) {
    page.eval(
        "(() => { const all = new DataTransfer(); all.items.add(new File([%s], 'x.json'));"
                .formatted(Page.quoted(text))
            + " const input = document.getElementById('import'); input.files = all.files;"
            + " input.dispatchEvent(new Event('change')); })()");
  }

  @Test
  void theListIsSearchedInNamesMessagesAndReplies() {
    answered("**Cats** and [dogs](https://example.org)", "They purr.");
    page.click("#new");
    answered("Rivers", "The Danube flows.");
    assertThat(names()).containsExactly("Rivers", "Cats and dogs");
    page.eval("document.getElementById('search').focus()");
    page.type("DANUBE");
    page.await("document.querySelectorAll('#chats li').length === 1");
    assertThat(names()).containsExactly("Rivers");
    page.type("?");
    page.awaitText("No conversation has this text.");
  }

  @Test
  void anExportedConversationIsImportedWithAllItsVersionsAndGoesOnAtAnotherServer() {
    answered("First", "One");
    page.click("[aria-label='Generate the reply again']");
    job.next().say("Other").end("stop");
    awaitIdle();
    String file = saved("#export-all");
    assertThat(page.eval("saved[0][0]").asText()).isEqualTo("conversations.json");

    page.click("#delete");
    page.click("#confirm button[value='delete']");
    page.await("document.querySelectorAll('#chats li').length === 0");
    job.forget();
    importFile(file);
    page.awaitText("Other");
    assertThat(page.text(".count")).isEqualTo("2/2");
    FakeJob.Turn next = answered("And then?", "Then.");
    // the server has never heard of the earlier turns, so they are sent with the new message
    assertThat(next.event().messages().stream().map(message -> message.content()))
        .containsExactly("First", "Other", "And then?");
    FakeJob.Turn third = answered("More", "Yes.");
    assertThat(third.event().messages()).hasSize(1);
    assertThat(third.event().previousTurn()).isEqualTo(next.event().turn());
  }

  @Test
  void theShownBranchIsExportedAsMarkdown() {
    answered("What is 1 + 1?", "It is **2**.");
    assertThat(saved("#export-text"))
        .isEqualTo("# What is 1 + 1?\n\n## You\n\nWhat is 1 + 1?\n\n## Reply\n\nIt is **2**.\n");
    assertThat(page.eval("saved[0][0]").asText()).isEqualTo("what-is-1-1.md");
  }

  @Test
  void aFileThatIsNotAnExportIsRefusedAndAHostileOneIsReadAsText() {
    importFile("[1, 2");
    page.awaitText("x.json is not JSON.");
    importFile("{\"format\": \"other\"}");
    page.awaitText("choose a file that was exported here");
    importFile(
        "{\"format\": \"radixflow-conversations\", \"conversations\": [{\"turns\":"
            + " {\"a\": {\"parent\": \"b\"}, \"b\": {\"parent\": \"a\"}}}]}");
    page.awaitText("not a tree of turns");
    importFile(
        "{\"format\": \"radixflow-conversations\", \"conversations\": [{\"name\": 7, \"chosen\":"
            + " \"__proto__\", \"turns\": {\"t1\": {\"user\": {\"x\": 1}, \"reply\": \"<img"
            + " src=x>\", \"files\": 3, \"calls\": [null]}}}]}");
    page.await("document.querySelectorAll('#chats li').length === 1");
    assertThat(page.count("#log img")).isZero();
  }

  @Test
  void aConversationIsOpenedFromTheServerByItsId() {
    FakeJob.Turn first = answered("Hello", "Hi there");
    String id =
        page.eval(
                "JSON.parse(localStorage['radixflow.chat.' +"
                    + " JSON.parse(localStorage['radixflow.chats'])[0].id]).roots[0]")
            .asText();
    page.eval("localStorage.clear(); sessionStorage.removeItem('radixflow.open')");
    page.reload();
    page.click("#transfer-button");
    page.eval("document.getElementById('server-id').value = " + Page.quoted(id));
    page.click("#server-form button");
    page.awaitText("Hi there");
    FakeJob.Turn next = answered("Go on", "I do.");
    assertThat(next.event().session()).isEqualTo(first.event().session());
    assertThat(next.event().messages()).hasSize(1);
  }
}
