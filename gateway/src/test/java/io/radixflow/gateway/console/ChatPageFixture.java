package io.radixflow.gateway.console;

import io.radixflow.gateway.GatewayFixture;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The chat page in a browser, over a gateway whose job is the test. */
abstract class ChatPageFixture {

  @RegisterExtension static final Chromium CHROMIUM = new Chromium();

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture("session.index=true");

  @TempDir Path directory;

  FakeJob job;
  Page page;

  @BeforeEach
  void open() {
    job = new FakeJob(gateway.topics());
    page = CHROMIUM.open();
    page.go(gateway.uri("/"));
  }

  @AfterEach
  void close() {
    job.close();
  }

  final FakeJob.Turn ask(String message) {
    page.eval("document.getElementById('message').focus()");
    page.type(message);
    page.press("Enter");
    return job.next();
  }

  final FakeJob.Turn answered(String message, String reply) {
    FakeJob.Turn turn = ask(message);
    turn.say(reply).end("stop");
    awaitIdle();
    return turn;
  }

  final void awaitIdle() {
    page.await("document.querySelector('.turn') && document.getElementById('stop').hidden");
  }

  final String lastReply() {
    return page.eval("[...document.querySelectorAll('.reply .text')].at(-1).innerText").asText();
  }

  /** The names of the conversations in the list. */
  final List<String> names() {
    return page.eval(
            "[...document.querySelectorAll('#chats .label')].map((e) => e.textContent).join('\\n')")
        .asText()
        .lines()
        .toList();
  }
}
