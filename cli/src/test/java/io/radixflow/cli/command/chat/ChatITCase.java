package io.radixflow.cli.command.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.cli.Cli;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.ServingSettings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jline.reader.EndOfFileException;
import org.jline.reader.UserInterruptException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands that talk to a running job, over one local stack with the simulated model. */
class ChatITCase {
  private static LocalStack stack;
  private static String bootstrap;

  @TempDir Path directory;

  @BeforeAll
  static void start() throws Exception {
    Settings settings = SettingsLoader.defaults().with(SharedConfig.MODEL, "sim");
    stack =
        LocalStack.start(
            settings,
            new LocalStack.Options(Optional.empty(), true, 0, 0),
            ServingSettings.engine(settings, LocatedModel::open),
            step -> {});
    bootstrap = stack.settings().get(KafkaConfig.BOOTSTRAP_SERVERS);
  }

  @AfterAll
  static void stop() throws Exception {
    if (stack != null) {
      stack.close();
    }
  }

  @Test
  void aScriptIsAnsweredTurnByTurnAndShowsCachedTokens() throws Exception {
    Path script = Files.writeString(directory.resolve("script"), "One\nTwo\n\n\nThree\n");

    Cli.Result result =
        new Cli()
            .run(
                "chat",
                "--bootstrap",
                bootstrap,
                "--script",
                script.toString(),
                "--system",
                "A system prompt of some length, which the sessions of this script share.",
                // without one it follows from the session's random id, and a reply may be empty
                "--seed",
                "1",
                "--max-tokens",
                "12");

    assertThat(result.err()).isEmpty();
    assertThat(result.code()).isZero();
    List<Transcript.Turn> turns = Transcript.read(result.out());
    assertThat(turns).extracting(Transcript.Turn::session).containsExactly(1, 1, 2);
    assertThat(turns).extracting(Transcript.Turn::message).containsExactly("One", "Two", "Three");
    assertThat(turns).extracting(Transcript.Turn::reply).doesNotContain("");
    Transcript.Turn first = turns.get(0);
    assertThat(first.cached()).isZero();
    assertThat(turns.get(1).cached())
        .isGreaterThanOrEqualTo((first.prompt() + first.completion() - 1) / 16 * 16);
    assertThat(turns.get(2).cached()).isBetween(80, turns.get(2).prompt() - 1);
  }

  @Test
  void aTurnThatIsRejectedMakesTheScriptFail() throws Exception {
    Path script = Files.writeString(directory.resolve("script"), "x".repeat(5000) + "\n");

    Cli.Result result =
        new Cli()
            .run(
                "chat",
                "--bootstrap",
                bootstrap,
                "--script",
                script.toString(),
                "--max-tokens",
                "5");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).contains("rejected: ");
  }

  @Test
  void aScriptWithoutMessagesIsRefused() throws Exception {
    Path script = Files.writeString(directory.resolve("script"), "\n\n");

    Cli.Result result = new Cli().run("chat", "--script", script.toString());

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("has no message");
  }

  @Test
  void anEventThatIsSentIsAnsweredAndTailShowsIt() {
    Cli.Result sent =
        new Cli()
            .run(
                "send",
                "--bootstrap",
                bootstrap,
                "--session",
                "sent",
                "--turn",
                "t",
                "--field",
                "max_tokens=3",
                "--field",
                "temperature=0",
                "--follow",
                "Hello",
                "there");

    assertThat(sent.code()).as(sent.err()).isZero();
    assertThat(sent.out().strip()).isNotEmpty();
    assertThat(sent.err()).contains("session sent: cached/prompt 0/");

    Cli.Result tail =
        new Cli()
            .run(
                "tail",
                "--bootstrap",
                bootstrap,
                "--session",
                "sent",
                "--no-deltas",
                "--from-beginning",
                "--count",
                "1");

    assertThat(tail.code()).isZero();
    assertThat(tail.out())
        .startsWith("replies\t{\"session\":\"sent\"")
        .contains("\"content\":\"" + sent.out().strip() + "\"");
  }

  @Test
  void aQueryThatIsFollowedShowsWhatItAskedFor() {
    String[] event = {"send", "--bootstrap", bootstrap, "--session", "asked", "--follow"};
    assertThat(new Cli().run(with(event, "--field", "max_tokens=3", "Which sea?")).code()).isZero();

    Cli.Result query = new Cli().run(with(event, "--type", "query", "--turn", "q"));

    assertThat(query.code()).as(query.err()).isZero();
    assertThat(query.out())
        .startsWith("{\"session\":\"asked\"")
        .contains("\"items\":[", "\"content\":\"Which sea?\"", "\"status\":", "\"pages\":{");
  }

  private static String[] with(String[] first, String... more) {
    return Stream.concat(Stream.of(first), Stream.of(more)).toArray(String[]::new);
  }

  @Test
  void anEventWithoutATurnIsSentWithoutOne() {
    Cli.Result close =
        new Cli().run("send", "--bootstrap", bootstrap, "--session", "none", "--type", "close");

    assertThat(close.code()).as(close.err()).isZero();
    assertThat(close.out().strip()).isEqualTo("sent session none");
  }

  @Test
  void anEventThatTheJobWouldRefuseIsNotSent() {
    Cli.Result unknown =
        new Cli().run("send", "--bootstrap", bootstrap, "--field", "max_tokns=3", "Hi");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err()).contains("max_tokns").contains("max_tokens");

    Cli.Result cancel = new Cli().run("send", "--type", "cancel", "--session", "s", "--follow");
    assertThat(cancel.code()).isEqualTo(1);
    assertThat(cancel.err()).contains("--follow needs an event that is answered");
  }

  @Test
  void theEventsOfASessionNameItsTenant() {
    String[] event = {"send", "--bootstrap", bootstrap, "--session", "owned", "--follow"};
    String[] own = with(event, "--tenant", "acme", "--field", "max_tokens=3", "Which sea?");
    assertThat(new Cli().run(own).code()).isZero();
    String[] asked = {"--type", "query", "--field", "at_turn=\"none\""};
    assertThat(new Cli().run(with(with(event, asked), "--tenant", "acme")).err())
        .contains("there is no turn 'none'");
    Cli.Result stranger = new Cli().run(with(event, asked));
    assertThat(stranger.code()).isEqualTo(1);
    assertThat(stranger.err()).contains("another tenant");
  }

  @Test
  void withoutABrokerTheAddressIsNamed() {
    Cli.Result result =
        new Cli().run("tail", "--bootstrap", "localhost:1", "--set", "kafka.connect-timeout=500ms");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .contains("no Kafka broker answers at localhost:1 within 500 ms: start one");
    assertThat(result.err().lines()).hasSize(1);
  }

  /** Lines that a person would type; null is Ctrl-C. */
  private static final class Typed implements ChatInput {
    private final Deque<Optional<String>> lines = new ArrayDeque<>();

    Typed(String... lines) {
      for (String line : lines) {
        this.lines.add(Optional.ofNullable(line));
      }
    }

    @Override
    public String readLine(String prompt) {
      if (lines.isEmpty()) {
        throw new EndOfFileException();
      }
      return lines.remove().orElseThrow(() -> new UserInterruptException(""));
    }

    @Override
    public void onInterrupt(Runnable action) {}

    @Override
    public void end() {}
  }

  /** A person who types nothing until the input ends. */
  private static final class Silent implements ChatInput {
    private final CountDownLatch reading = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);

    @Override
    public String readLine(String prompt) {
      reading.countDown();
      try {
        ended.await();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      throw new EndOfFileException();
    }

    @Override
    public void onInterrupt(Runnable action) {}

    @Override
    public void end() {
      ended.countDown();
    }
  }

  @Test
  void aChatEndsWhenItsJobEndsEvenWhileItWaitsForALine() throws Exception {
    Silent input = new Silent();
    CompletableFuture<Void> end = new CompletableFuture<>();
    try (ConversationClient client = new ConversationClient(stack.settings())) {
      ChatRepl repl =
          new ChatRepl(
              input,
              number -> ChatSession.open(client, "", "deserted-" + number, null, null),
              end,
              nowhere());
      CompletableFuture<Void> chat = CompletableFuture.runAsync(repl::run);
      assertThat(input.reading.await(60, TimeUnit.SECONDS)).isTrue();
      end.completeExceptionally(new CliException("the job is gone"));

      assertThatThrownBy(() -> chat.get(60, TimeUnit.SECONDS))
          .hasRootCauseMessage("the job is gone");
    }
  }

  @Test
  void turnsFailWhenWhatTheyNeedFails() {
    CompletableFuture<Void> needed = new CompletableFuture<>();
    try (ConversationClient client = new ConversationClient(stack.settings())) {
      client.failWith(needed);
      needed.completeExceptionally(new CliException("the job is gone"));
      ChatSession session = ChatSession.open(client, "", "unanswered", null, null);

      assertThatThrownBy(() -> session.ask("Hello", new ReplyView(nowhere())).join())
          .hasRootCauseMessage("the job is gone");
    }
  }

  private static PrintWriter nowhere() {
    return new PrintWriter(Writer.nullWriter());
  }

  private static String chat(ChatInput input) {
    StringWriter out = new StringWriter();
    String run = Long.toString(System.nanoTime());
    try (ConversationClient client = new ConversationClient(stack.settings())) {
      new ChatRepl(
              input,
              number -> ChatSession.open(client, "", run + "-" + number, null, null),
              new CompletableFuture<>(),
              new PrintWriter(out, true))
          .run();
    }
    return out.toString();
  }

  @Test
  void linesAreAnsweredAndCommandsObeyed() {
    String out =
        chat(
            new Typed(
                "/regenerate",
                "Hello",
                "/regenerate",
                "/new",
                "",
                "/stats",
                "/nonsense",
                "/help",
                "/quit",
                "never read"));

    assertThat(out)
        .startsWith("No reply yet.")
        .contains("Session 2.")
        .contains("all 2 turns: cached/prompt ")
        .contains("/nonsense is not a command")
        .contains("/regenerate  make the latest reply again");
  }

  @Test
  void interruptingTwiceLeavesAndOnceDoesNot() {
    assertThat(chat(new Typed(null, "/stats", null, null, "/help")))
        .contains("Ctrl-C again leaves.")
        .contains("Nothing was said yet.")
        .doesNotContain("/regenerate");
  }
}
