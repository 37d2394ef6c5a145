package io.radixflow.lab.drill.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.drill.proof.RecoveryPhases.Phases;
import io.radixflow.lab.drill.proof.RecoveryPhases.Summary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoveryPhasesTest {

  private static final Phases NEVER = new Phases(0, 0, 0, 0, 0);
  private static final Summary NONE = new Summary(0, NEVER, NEVER);
  private static final List<String> LOG =
      List.of(
          subtask("12:00:00,000", 1, "INITIALIZING", "RUNNING"),
          "2026-11-21 12:00:10,500 INFO  [a] ExecutionGraph - Job radixflow (0a) switched from"
              + " state RUNNING to RESTARTING.",
          "java.io.IOException: Lost connection",
          subtask("12:00:10,700", 1, "SCHEDULED", "DEPLOYING"),
          "2026-11-21 12:00:10,800 INFO  [a] ExecutionGraph - Job radixflow (0a) switched from"
              + " state RUNNING to RESTARTING.",
          subtask("12:00:11,000", 1, "SCHEDULED", "DEPLOYING"),
          subtask("12:00:11,000", 2, "SCHEDULED", "DEPLOYING"),
          subtask("12:00:11,200", 1, "DEPLOYING", "INITIALIZING"),
          "2026-11-21 12:00:11,300 INFO  [a] ExecutionGraph - Source: events -> route events (2/2)"
              + " (1b_2c_1_1) switched from DEPLOYING to INITIALIZING.",
          sink("12:00:11,700", 1, "INITIALIZING", "RUNNING"),
          subtask("12:00:11,900", 1, "INITIALIZING", "RUNNING"),
          subtask("12:00:12,000", 2, "DEPLOYING", "INITIALIZING"),
          subtask("12:00:14,000", 2, "INITIALIZING", "RUNNING"),
          sink("12:00:14,500", 2, "INITIALIZING", "RUNNING"),
          subtask("12:00:50,000", 2, "INITIALIZING", "RUNNING"));

  @Test
  void onlyTheDeploymentThatSucceededCounts(@TempDir Path logs) throws Exception {
    Files.write(logs.resolve("jobmanager-3.log"), LOG);
    Files.writeString(logs.resolve("taskmanager-4.log"), "not of a JobManager");

    RecoveryPhases phases = RecoveryPhases.read(logs, List.of(kill("12:00:10.000", 1)));

    assertThat(phases.survivors()).isEqualTo(one(new Phases(500, 1_000, 1_200, 1_900, 1_700)));
    assertThat(phases.owned()).isEqualTo(one(new Phases(500, 1_000, 2_000, 4_000, 4_500)));
  }

  @Test
  void aSubtaskThatNeverRanAgainDoesNotCount() {
    RecoveryPhases phases = RecoveryPhases.of(LOG.stream(), List.of(kill("12:01:00.000", 0)));

    assertThat(phases.owned()).isEqualTo(NONE);
    assertThat(phases.survivors()).isEqualTo(NONE);
  }

  @Test
  void eventsAfterTheNextKillDoNotCountForTheFirst() {
    List<Kill> kills = List.of(kill("12:00:10.000", 1), kill("12:00:13.000", 0));
    String late = sink("12:00:51,000", 2, "DEPLOYING", "RUNNING");

    RecoveryPhases phases =
        RecoveryPhases.of(Stream.concat(LOG.stream(), Stream.of("", late)), kills);

    assertThat(phases.owned()).isEqualTo(NONE);
    assertThat(phases.survivors().count()).isEqualTo(2);
  }

  @Test
  void theSlowestIsTheOneThatWasConnectedLast() {
    List<Kill> kills = List.of(new Kill(kill("12:00:10.000", 0).millis(), Set.of(0, 1), 2));

    Summary owned = RecoveryPhases.of(LOG.stream(), kills).owned();

    assertThat(owned.count()).isEqualTo(2);
    assertThat(owned.medians()).isEqualTo(new Phases(500, 1_000, 1_600, 2_950, 3_100));
    assertThat(owned.slowest()).isEqualTo(new Phases(500, 1_000, 2_000, 4_000, 4_500));
  }

  private static Summary one(Phases phases) {
    return new Summary(1, phases, phases);
  }

  private static Kill kill(String time, int subtask) {
    long millis =
        LocalDateTime.parse("2026-11-21T" + time)
            .atZone(ZoneId.systemDefault())
            .toInstant()
            .toEpochMilli();
    return new Kill(millis, Set.of(subtask), 2);
  }

  private static String subtask(String time, int number, String from, String to) {
    return task(time, "serving", number, from, to);
  }

  private static String sink(String time, int number, String from, String to) {
    return task(time, "deltas: Writer -> deltas: Committer", number, from, to);
  }

  private static String task(String time, String task, int number, String from, String to) {
    return "2026-11-21 %s INFO  [a] ExecutionGraph - %s (%d/2) (1b_2c_%d_1) switched from %s to %s."
        .formatted(time, task, number, number - 1, from, to);
  }
}
