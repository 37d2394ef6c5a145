package io.radixflow.lab.traffic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.radixflow.cli.command.common.CliException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DriverTest {

  /** Turns of one conversation, one at a time; turns that begin with "-" have no reply. */
  private static final class Lines implements Script<String, String> {
    private final Deque<String> left;
    private int answers;

    Lines(String... turns) {
      left = new ArrayDeque<>(List.of(turns));
    }

    @Override
    public Step<String> next(int inFlight) {
      if (left.isEmpty() || inFlight > 0) {
        return null;
      }
      String turn = left.remove();
      return new Step<>(turn + answers, 0, !turn.startsWith("-"));
    }

    @Override
    public void answered(String turn, String reply) {
      assertThat(reply).isEqualTo("re " + turn);
      answers++;
    }

    @Override
    public boolean ended() {
      return left.isEmpty();
    }
  }

  @SafeVarargs
  private static Driver<String, String> start(
      Target<String, String> target, int lanes, Script<String, String>... scripts) {
    Deque<Script<String, String>> queue = new ArrayDeque<>(List.of(scripts));
    return Driver.start(Collections.nCopies(lanes, target), queue::poll);
  }

  @Test
  void laterTurnsFollowRepliesAndALaneTakesTheNextConversation() {
    Target<String, String> echo = turn -> CompletableFuture.supplyAsync(() -> "re " + turn);
    try (Driver<String, String> driver =
        start(echo, 1, new Lines("a", "b", "-c", "d"), new Lines("x"))) {
      await().until(() -> driver.replyCount() == 4);

      assertThat(driver.sent()).containsExactly("a0", "b1", "-c2", "d2", "x0");
      assertThat(driver.replies()).containsEntry("d2", "re d2").doesNotContainKey("-c2");
      assertThat(driver.unanswered()).isZero();
      assertThat(driver.failures()).isEmpty();
    }
  }

  @Test
  void aFailureEndsItsLaneOnly() {
    Target<String, String> target =
        turn ->
            turn.startsWith("bad")
                ? CompletableFuture.failedFuture(new IllegalStateException("gone"))
                : CompletableFuture.completedFuture("re " + turn);
    try (Driver<String, String> driver =
        start(target, 2, new Lines("bad", "never"), new Lines("good", "better"))) {
      await().until(() -> driver.replyCount() == 2 && !driver.failures().isEmpty());

      assertThat(driver.failures()).containsExactly("a client failed: gone");
      assertThat(driver.unanswered()).isEqualTo(1);
      assertThat(driver.sent()).doesNotContain("never0");
    }
  }

  @Test
  void afterAStopNothingIsSentAndRepliesStillCount() {
    CompletableFuture<String> late = new CompletableFuture<>();
    try (Driver<String, String> driver = start(turn -> late, 1, new Lines("a", "b"))) {
      await().until(() -> !driver.sent().isEmpty());
      driver.stop();
      late.complete("re a0");

      await().until(() -> driver.unanswered() == 0);
      assertThat(driver.sent()).containsExactly("a0");
    }
  }

  @Test
  void aBoundedLoadHasNoMoreTurnsInFlightThanItMay() throws InterruptedException {
    AtomicInteger inFlight = new AtomicInteger();
    ConcurrentLinkedQueue<Integer> seen = new ConcurrentLinkedQueue<>();
    Target<Integer, Integer> target =
        turn -> {
          seen.add(inFlight.incrementAndGet());
          return CompletableFuture.supplyAsync(
              () -> {
                inFlight.decrementAndGet();
                return -turn;
              });
        };

    List<Integer> turns = IntStream.range(0, 100).boxed().toList();
    assertThat(Driver.bounded(target, turns, 3)).hasSize(100).last().isEqualTo(-99);
    assertThat(seen).hasSize(100).allMatch(count -> count <= 3);
  }

  @Test
  void aPacedLoadEndsWithItsTurnsAndNamesTheCauseOfAMissingReply() throws InterruptedException {
    Target<Long, Long> target = CompletableFuture::completedFuture;
    assertThat(Driver.paced(target, turn -> turn < 4 ? turn : null, 1))
        .containsExactly(0L, 1L, 2L, 3L);

    Target<Long, Long> broken =
        turn -> CompletableFuture.failedFuture(new IllegalStateException("no broker"));
    assertThatThrownBy(() -> Driver.paced(broken, turn -> turn < 1 ? turn : null, 1))
        .isInstanceOf(CliException.class)
        .hasMessage("a turn has no reply: no broker");
  }
}
