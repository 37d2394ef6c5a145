package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.models.TinyChatModel;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.SavepointFormatType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A job continues from its savepoint with a model of another architecture and tokenizer. */
@Tag("slow")
@Timeout(300)
class ModelChangeITCase {
  private static final String SESSION = "s";

  /** Names a simulated model that the test can stop. */
  private static final String HELD = "held";

  private static final String LONG = "Which light is it, and which is the next one? ".repeat(8);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final HeldClock CLOCK = new HeldClock();

  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(strings = {"continue", "end"})
  void aConversationGoesOnWithAnotherModelAndARunningReplyDoesWhatTheOptionSays(String change)
      throws Exception {
    StringBuilder shown = new StringBuilder();
    String first = stopInTheSecondTurn(shown);
    Path model = TinyChatModel.write(dir.resolve("latent"), "deepseek_v3");
    try (LocalStack stack = start(model.toString(), List.of("session.model-change=" + change));
        ConversationClient client = new ConversationClient(stack.settings())) {
      Reply third = ask(client, "t3", "And now?");
      List<Reply.Item> items = items(client);

      assertThat(items).extracting(Reply.Item::turn).contains("t1", "t2", "t3");
      assertThat(items).extracting(Reply.Item::content).contains(first, third.text());
      assertThat(answer(items, "t1")).isEqualTo(first);
      if (change.equals("end")) {
        assertThat(answer(items, "t2")).startsWith(shown).hasSizeLessThan(300);
      } else {
        assertThat(answer(items, "t2")).as("starts over").doesNotStartWith(shown);
      }
      assertThat(third.usage().promptTokens())
          .as("a token for each letter of the conversation")
          .isGreaterThan(first.length() + answer(items, "t2").length());
    }
  }

  /** Runs a job of a simulated model until its savepoint; returns the first turn's reply. */
  private String stopInTheSecondTurn(StringBuilder shown) throws Exception {
    LocalStack stack = start(HELD, List.of());
    CompletableFuture<Void> ended = stack.end();
    try (stack;
        ConversationClient client = new ConversationClient(stack.settings())) {
      String first = ask(client, "t1", "Which light is it?").text();
      CLOCK.holdAfter(30);
      client.ask(
          Events.message(SESSION, "t2", "And the next one?", 300),
          new ReplyListener() {
            @Override
            public void text(String piece) {
              synchronized (shown) {
                shown.append(piece);
              }
            }

            @Override
            public void finished(ReplyDelta last) {
              throw new AssertionError("the turn ended before the savepoint");
            }
          });
      await().atMost(PATIENCE).until(() -> length(shown) > 10);
      Path savepoints = kept().resolve("savepoints");
      CompletableFuture<String> savepoint =
          stack
              .cluster()
              .miniCluster()
              .stopWithSavepoint(
                  stack.job(), savepoints.toUri().toString(), false, SavepointFormatType.CANONICAL);
      await()
          .atMost(PATIENCE)
          // Flink renames files while they are listed
          .ignoreExceptionsInstanceOf(UncheckedIOException.class)
          .until(() -> savepoint.isDone() || isWritten(savepoints));
      CLOCK.release();
      savepoint.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      await().atMost(PATIENCE).until(ended::isCompletedExceptionally);
      return first;
    }
  }

  private static int length(StringBuilder shown) {
    synchronized (shown) {
      return shown.length();
    }
  }

  private static boolean isWritten(Path savepoints) throws IOException {
    if (!Files.isDirectory(savepoints)) {
      return false;
    }
    try (var files = Files.walk(savepoints)) {
      return files.anyMatch(file -> file.endsWith("_metadata"));
    }
  }

  @Test
  void pagesOnDiskServeTheModelThatWroteThemAlone() throws Exception {
    Path llama = TinyChatModel.write(dir.resolve("llama"));
    Path latent = TinyChatModel.write(dir.resolve("latent"), "deepseek_v3");
    List<String> disk =
        List.of(
            "tiers.host-memory=16mb",
            "tiers.disk-size=64mb",
            "tiers.disk-directory=" + dir.resolve("disk"),
            "tiers.load-back-threshold=1",
            "tiers.prefetch-policy=wait_complete",
            "tiers.prefetch-threshold=1");
    List<Reply> replies = new ArrayList<>();
    for (Path model : List.of(llama, llama, latent, latent)) {
      try (LocalStack stack = start(model.toString(), disk);
          ConversationClient client = new ConversationClient(stack.settings())) {
        replies.add(ask(client, "t" + replies.size(), LONG));
        assertThat(items(client))
            .extracting(Reply.Item::content)
            .containsAll(replies.stream().map(Reply::text).toList());
      }
    }
    assertThat(diskTokens(replies)).as("of the same model").element(1).matches(n -> n > 0);
    assertThat(diskTokens(replies)).as("of the other model").element(2).isEqualTo(0);
    assertThat(replies.get(2).usage().cachedTokens()).isZero();
    assertThat(diskTokens(replies)).as("of its own").element(3).matches(n -> n > 0);
  }

  private static List<Integer> diskTokens(List<Reply> replies) {
    return replies.stream().map(reply -> reply.usage().tiers().diskTokens()).toList();
  }

  private static String answer(List<Reply.Item> items, String turn) {
    return items.stream()
        .filter(item -> item.turn().equals(turn) && item.role().equals("assistant"))
        .map(Reply.Item::content)
        .findFirst()
        .orElseThrow();
  }

  private static List<Reply.Item> items(ConversationClient client) {
    String query = UUID.randomUUID().toString();
    return reply(client.ask(Events.of(EventKind.QUERY, SESSION, query), ReplyListener.SILENT))
        .items();
  }

  private static Reply ask(ConversationClient client, String turn, String text) {
    Reply reply = reply(client.ask(Events.message(SESSION, turn, text, 24), ReplyListener.SILENT));
    assertThat(reply.finishReason()).isIn("length", "stop");
    return reply;
  }

  private static Reply reply(CompletableFuture<Reply> future) {
    return future.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }

  private Path kept() {
    return dir.resolve("kept");
  }

  private LocalStack start(String model, List<String> options) throws IOException {
    List<String> all = new ArrayList<>(options);
    all.add("model=" + model);
    all.add("job.checkpoint-interval=200ms");
    all.add("kafka.connect-timeout=60s");
    Settings settings = new SettingsLoader().set(all).load();
    return LocalStack.start(
        settings,
        new LocalStack.Options(Optional.of(kept()), true, 0, 0),
        ServingSettings.engine(settings, ModelChangeITCase::open),
        line -> {});
  }

  private static ServedModel open(String model) {
    return model.equals(HELD)
        ? SimModel.open(
            SimOptions.DEFAULT.withEndOfTurn(1.0 / 1000).withTime(1_000_000, 0).withClock(CLOCK))
        : ModelLoader.open(Path.of(model));
  }
}
