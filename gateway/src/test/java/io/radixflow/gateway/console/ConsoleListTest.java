package io.radixflow.gateway.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.ConversationEntry;
import org.junit.jupiter.api.Test;

/** The list of conversations, which the server and the browser keep. */
class ConsoleListTest extends ChatPageFixture {

  private static String id(int number) {
    return "conv_" + "%032x".formatted(number);
  }

  private void index(String id, String title, int turns) {
    gateway.topics().index(new ConversationEntry("", id, title, 0, turns * 1000L, turns, "sim"));
  }

  private void loseWhatTheBrowserKeeps() {
    page.eval("localStorage.clear(); sessionStorage.removeItem('radixflow.open')");
    page.reload();
  }

  @Test
  void aConversationOfAnotherBrowserIsListedAndGoesOn() {
    FakeJob.Turn first = answered("Hello", "Hi there");
    String session = first.event().session();
    index(session, "Hello", 1);
    page.reload();
    page.awaitText("Hi there");
    assertThat(names()).containsExactly("Hello");
    loseWhatTheBrowserKeeps();
    page.await("document.querySelectorAll('#chats li').length === 1");
    page.click("#chats button");
    page.awaitText("Hi there");
    FakeJob.Turn next = answered("Go on", "I do.");
    assertThat(next.event().session()).isEqualTo(session);
    assertThat(next.event().messages()).hasSize(1);
    assertThat(names()).containsExactly("Hello");
    page.click("#delete");
    page.click("#confirm button[value='delete']");
    page.await("document.querySelectorAll('#chats li').length === 0");
    assertThat(page.problems()).isEmpty();
  }

  @Test
  void theSearchFindsWhatTheBrowserAndTheServerHave() {
    index(id(1), "Rivers of Europe", 1);
    index(id(2), "Cats", 2);
    answered("Which river is longest?", "The Nile.");
    page.reload();
    page.await("document.querySelectorAll('#chats li').length === 3");
    page.eval("document.getElementById('search').focus()");
    page.type("RIVER");
    page.await("document.querySelectorAll('#chats li').length === 2");
    assertThat(names()).containsExactly("Which river is longest?", "Rivers of Europe");
  }

  @Test
  void olderConversationsComeOnDemand() {
    for (int i = 0; i < 101; i++) {
      index(id(i), "t" + i, i);
    }
    page.reload();
    page.await("document.querySelectorAll('#chats li').length === 100");
    page.click("#older");
    page.await("document.querySelectorAll('#chats li').length === 101");
    assertThat(names()).endsWith("t0");
    assertThat(page.eval("document.getElementById('older').hidden").asBoolean()).isTrue();
  }
}
