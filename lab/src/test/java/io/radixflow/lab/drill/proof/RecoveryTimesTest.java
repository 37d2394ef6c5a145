package io.radixflow.lab.drill.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.Usage;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RecoveryTimesTest {

  private static final Kill FIRST = new Kill(10_000, Set.of(0), 2);
  private static final Kill SECOND = new Kill(20_000, Set.of(1), 2);
  private static final String OWNED = session(true);
  private static final String SURVIVOR = session(false);

  @Test
  void timesRunFromTheKillToTheFirstDeltaOfTheNextAttempt() {
    RecoveryTimes times = new RecoveryTimes(List.of(FIRST, SECOND));
    delta(times, OWNED, 9_000, 9_990, null);
    delta(times, SURVIVOR, 9_000, 9_995, null);
    delta(times, SURVIVOR, 9_000, 11_000, null);
    delta(times, SURVIVOR, 13_000, 14_000, null);
    delta(times, OWNED, 13_000, 15_000, null);
    delta(times, OWNED, 13_000, 15_100, "stop");

    assertOne(times.waits().owned(), 5_000);
    assertOne(times.waits().survivors(), 4_000);
    assertOne(times.waits().silence(), 3_000);
  }

  @Test
  void aTurnThatRunsOverTwoKillsCountsForEach() {
    RecoveryTimes times = new RecoveryTimes(List.of(FIRST, SECOND));
    delta(times, OWNED, 9_000, 9_990, null);
    delta(times, OWNED, 13_000, 15_000, null);
    delta(times, OWNED, 22_000, 23_000, null);

    assertOne(times.waits().owned(), 5_000);
    assertOne(times.waits().survivors(), 3_000);
  }

  @Test
  void aTurnThatEndedBeforeOrBeganAfterwardsDoesNotCount() {
    RecoveryTimes times = new RecoveryTimes(List.of(FIRST));
    delta(times, OWNED, 9_000, 9_980, null);
    delta(times, OWNED, 9_000, 9_990, "stop");
    delta(times, SURVIVOR, 13_000, 13_500, null);

    assertThat(times.waits().owned().count()).isZero();
    assertThat(times.waits().survivors().count()).isZero();
  }

  private static void assertOne(Samples samples, double millis) {
    assertThat(samples.count()).isEqualTo(1);
    assertThat(samples.max()).isEqualTo(millis);
  }

  private static void delta(
      RecoveryTimes times, String session, long attempt, long at, String finish) {
    times.delta(
        new ReplyDelta(session, "main", "1", 0, 0, 0, 1, attempt, "x", finish, Usage.NONE), at);
  }

  private static String session(boolean owned) {
    return IntStream.range(0, 100)
        .mapToObj(i -> "s" + i)
        .filter(session -> FIRST.owned(session) == owned)
        .findFirst()
        .orElseThrow();
  }
}
