package io.radixflow.operators.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.session.Turn;
import org.junit.jupiter.api.Test;

class RecentTurnsTest {
  /** A turn of about 1,000 bytes. */
  private static final Turn TURN = Turn.root(Turn.ROOT, "x".repeat(350));

  private final RecentTurns recent = new RecentTurns(2_500);

  @Test
  void theSessionUsedLeastRecentlyLeavesFirst() {
    recent.add("a", TURN);
    recent.add("b", TURN);
    recent.get("a", Turn.ROOT);
    recent.add("c", TURN);
    assertThat(recent.get("b", Turn.ROOT)).isNull();
    assertThat(recent.get("a", Turn.ROOT)).isSameAs(TURN);
    assertThat(recent.get("c", Turn.ROOT)).isSameAs(TURN);
  }

  @Test
  void aTurnAddedTwiceCountsOnce() {
    for (int i = 0; i < 10; i++) {
      recent.add("a", TURN);
    }
    recent.add("b", TURN);
    assertThat(recent.get("a", Turn.ROOT)).isNotNull();
  }

  @Test
  void aTurnThatExceedsTheBoundIsNotKept() {
    recent.add("a", Turn.root(Turn.ROOT, "x".repeat(2_000)));
    assertThat(recent.get("a", Turn.ROOT)).isNull();
    recent.add("b", TURN);
    assertThat(recent.get("b", Turn.ROOT)).isNotNull();
  }

  @Test
  void aRemovedSessionLeavesRoomForOthers() {
    recent.add("a", TURN);
    recent.add("b", TURN);
    recent.remove("a");
    recent.add("c", TURN);
    assertThat(recent.get("a", Turn.ROOT)).isNull();
    assertThat(recent.get("b", Turn.ROOT)).isNotNull();
  }
}
