package io.radixflow.engine.schedule;

import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineHold;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.Patience;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.FinishReason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that end the process are found, and the others answered. */
@Timeout(600)
class DeadlyRequestTest {
  private static final SimOptions ENDLESS = SimOptions.DEFAULT.withEndOfTurn(0);

  @TempDir Path directory;

  private static EngineRequest request(String label, int seed, int tokens) {
    return request(label, Engines.letters(seed, 40), tokens);
  }

  private static EngineRequest request(String label, int[] prompt, int tokens) {
    return EngineRequest.builder(label, () -> prompt, tokens).build();
  }

  private Engine open(SimOptions sim, EngineOptions options) {
    return ContinuousBatchingEngine.open(
        SimModel.open(sim), DeviceOptions.DEFAULT, options, null, journal());
  }

  private Path journal() {
    return directory.resolve("engine/journal");
  }

  /** Leaves a journal as a process that died with these in flight, each {@code submitted} far. */
  private void died(int submitted, String... labels) {
    CrashJournal journal = CrashJournal.open(journal(), 8, System::currentTimeMillis);
    for (int i = 0; i < labels.length; i++) {
      journal.begin(i, CrashJournal.nameOf(labels[i]), false);
      journal.step(i, 0, submitted);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {35, 55})
  void aRequestThatKillsItsProcessEndsInErrorAndTheOthersAreAnswered(int deadly) throws Exception {
    List<String> expected = new ArrayList<>();
    try (Engine engine = Engines.open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < KillingProcess.REQUESTS; i++) {
        EngineClient.Seen seen =
            client.await(
                client.submit(Engines.letters(i, KillingProcess.PROMPT), KillingProcess.REPLY));
        expected.add("s/" + i + " LENGTH " + seen.text + " null");
      }
    }
    int deaths = 0;
    Process process = start(deadly);
    while (process.waitFor() == KillingProcess.KILLED) {
      deaths++;
      assertThat(deaths).isLessThan(10);
      process = start(deadly);
    }
    List<String> lines = Files.readAllLines(directory.resolve("out"));
    assertThat(process.exitValue()).as("%s", lines).isZero();
    // twice alone, and before that once with others, unless it was the first to run
    assertThat(deaths).isBetween(2, 3);
    expected.set(
        KillingProcess.REQUESTS / 2,
        "s/bad ERROR  the process died 2 times while it worked on this turn alone");
    assertThat(lines.stream().filter(line -> line.startsWith("s/"))).isEqualTo(expected);
  }

  private Process start(int deadly) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(
        List.of(KillingProcess.class.getName(), journal().toString(), Integer.toString(deadly)));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("out").toFile())
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    if (!process.waitFor(Patience.DURATION.toSeconds(), TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(
          "the process did not end: " + Files.readString(directory.resolve("out")));
    }
    return process;
  }

  /** A step: how many requests were in it, and the position that the first one reached. */
  private record Ran(int requests, int reached) {}

  @Test
  void suspectsRunAloneUpToThePositionOfTheDeathAndThenWithOthers() {
    died(60, "a", "b");
    List<Ran> steps = new CopyOnWriteArrayList<>();
    SimOptions sim = ENDLESS.withFault(batch -> steps.add(ran(batch)));
    int ring = 50;
    try (Engine engine = open(sim, EngineOptions.builder().ringTokens(ring).build());
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      ids.add(client.submit(request("other", Engines.letters(3, 200), 300)));
      client.awaitTokens(ids.get(0), 1);
      ids.add(client.submit(request("a", 1, 300)));
      ids.add(client.submit(request("b", 2, 300)));
      // no reply is read, so that those before the last one pause and do not end meanwhile
      int before = client.seen(ids.get(0)).tokens.size() + 2 * ring;
      await().until(() -> engine.stats().steps().generatedTokens() > before);
      try (EngineHold hold = new EngineHold(engine)) {
        client.drain();
      }
      ids.forEach(id -> assertThat(client.await(id).tokens).hasSize(300));
    }
    List<Ran> alone =
        steps.stream().filter(s -> s.reached() <= 60).filter(s -> s.requests() == 1).toList();
    assertThat(alone).anyMatch(step -> step.reached() == 60);
    assertThat(steps).anyMatch(step -> step.requests() == 3);
    for (int i = 1; i < steps.size(); i++) {
      if (steps.get(i).requests() == 3) {
        assertThat(steps.get(i).reached()).isGreaterThan(60);
      }
    }
  }

  private static Ran ran(Batch batch) {
    int[] ends = new int[batch.chunks()];
    for (int i = 0; i < ends.length; i++) {
      ends[i] = batch.chunkPosition(i) + batch.chunkRows(i);
    }
    return new Ran(ends.length, Arrays.stream(ends).min().orElse(0));
  }

  @Test
  void aSuspectThatWasCancelledStaysSuspectUntilItHasRun() {
    died(60, "a", "b");
    CrashJournal next;
    try (Engine engine = open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      long held;
      long behind;
      try (EngineHold hold = new EngineHold(engine)) {
        held = client.submit(request("a", 1, 300));
        behind = client.submit(request("b", 2, 300));
        client.cancel(behind);
      }
      assertThat(client.await(behind).finish).isEqualTo(FinishReason.CANCELLED);
      assertThat(client.await(held).tokens).hasSize(300);
      Engines.awaitIdle(engine);
    }
    next = CrashJournal.open(journal(), 8, System::currentTimeMillis);
    assertThat(next.suspect(CrashJournal.nameOf("a"))).isNull();
    assertThat(next.suspect(CrashJournal.nameOf("b"))).isNotNull();
    next.close();
  }

  @Test
  void theNextSuspectComesWhenTheOneBeforeIsCancelled() {
    died(4_000, "a", "b");
    try (Engine engine = open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      long first = client.submit(request("a", 1, 3_000));
      long second = client.submit(request("b", 2, 20));
      client.awaitTokens(first, 3);
      assertThat(client.seen(second).tokens).isEmpty();
      client.cancel(first);
      assertThat(client.await(second).tokens).hasSize(20);
      assertThat(client.await(client.submit(request("c", 3, 20))).tokens).hasSize(20);
    }
  }

  @Test
  void nothingIsLeftOfAnEngineThatWasClosed() {
    try (Engine engine = open(ENDLESS, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      assertThat(journal()).exists();
      client.awaitTokens(client.submit(request("a", 1, 4_000)), 1);
    }
    assertThat(journal()).doesNotExist();
  }
}
