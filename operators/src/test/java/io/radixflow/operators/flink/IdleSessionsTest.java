package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.record.TierTokens;
import org.junit.jupiter.api.Test;

/** Which sessions are counted as what, and in which order they are looked for. */
class IdleSessionsTest {
  private static final TierTokens WARM = new TierTokens(32, 0, 0, 0);
  private static final TierTokens HOST = new TierTokens(16, 16, 0, 0);
  private static final TierTokens DISK = new TierTokens(0, 0, 32, 0);
  private static final TierTokens REMOTE = new TierTokens(16, 0, 0, 16);
  private static final long LATER = IdleSessions.COLD_FOR;

  private final IdleSessions sessions = new IdleSessions();

  private void put(String session, TierTokens places) {
    sessions.put(session, places, 0, 0);
  }

  private void assertCounted(int warm, int cold) {
    assertThat(sessions.warm()).isEqualTo(warm);
    assertThat(sessions.cold()).isEqualTo(cold);
  }

  @Test
  void eachSessionCountsOnceAsWhatItWasLast() {
    put("a", WARM);
    put("b", HOST);
    put("c", DISK);
    put("d", REMOTE);
    put("e", TierTokens.NONE);
    assertCounted(1, 3);
    put("a", REMOTE);
    put("b", TierTokens.NONE);
    put("c", WARM);
    put("d", DISK);
    assertCounted(1, 2);
    for (String each : new String[] {"a", "b", "c", "d", "e"}) {
      sessions.remove(each);
    }
    assertCounted(0, 0);
  }

  @Test
  void warmSessionsAreDueOnceTheDeviceHasEvictedPagesSince() {
    sessions.put("a", WARM, 5, 0);
    sessions.put("b", WARM, 6, 0);
    assertThat(sessions.takeDue(9, 5, LATER)).isEmpty();
    assertThat(sessions.takeDue(9, 6, LATER)).containsExactly("a");
    assertThat(sessions.takeDue(9, 6, LATER)).isEmpty();
    assertThat(sessions.takeDue(9, 7, LATER)).containsExactly("b", "a");
    assertCounted(2, 0);
  }

  @Test
  void whatSeemsToBeGoneIsLookedForOnceIfThatIsNotOfNow() {
    sessions.put("a", TierTokens.NONE, -1, 0);
    sessions.put("b", TierTokens.NONE, 0, 5);
    sessions.put("c", TierTokens.NONE, -1, 0);
    sessions.remove("c");
    assertCounted(0, 0);
    assertThat(sessions.takeDue(9, 0, 6)).containsExactly("a");
    assertThat(sessions.takeDue(9, 0, 6)).isEmpty();
    put("a", DISK);
    assertCounted(0, 1);
  }

  @Test
  void coldSessionsAreDueAfterAWhileAndLeaveThePlaceToWarmOnes() {
    sessions.put("a", HOST, 0, 1);
    sessions.put("b", DISK, 0, 2);
    sessions.put("c", REMOTE, 0, 2);
    sessions.put("d", WARM, 0, 2);
    assertThat(sessions.takeDue(9, 0, LATER)).isEmpty();
    assertThat(sessions.takeDue(2, 1, LATER + 2)).containsExactly("d", "a");
    assertThat(sessions.takeDue(2, 1, LATER + 2)).containsExactly("b");
    assertThat(sessions.takeDue(2, 1, LATER + 2)).isEmpty();
    assertThat(sessions.takeDue(1, 1, 2 * LATER + 2)).containsExactly("a");
  }
}
