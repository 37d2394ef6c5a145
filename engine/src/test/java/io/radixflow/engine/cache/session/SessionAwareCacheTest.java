package io.radixflow.engine.cache.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.protocol.record.kv.SlotState;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SessionAwareCacheTest {
  private final SessionWorld world = new SessionWorld(64, 1);

  private static int[] range(int from, int to) {
    return IntStream.range(from, to).toArray();
  }

  /** Case S9: closing frees more than nothing, and not what another session has. */
  @Test
  void closingFreesOnlyWhatOtherSessionsDoNotUse() {
    world.turn("a", 1, 2, 3, 4);
    world.turn("b", 1, 2, 5, 6);
    assertThat(world.close("a")).isEqualTo(2);
    assertThat(world.cached(1, 2, 3, 4)).isEqualTo(2);
    assertThat(world.cached(1, 2, 5, 6)).isEqualTo(4);
    assertThat(world.close("b")).isEqualTo(4);
    assertThat(world.cache.nodes()).isZero();
  }

  /** Case S10: the last of two sessions takes what both have with it. */
  @Test
  void sharedPagesAreFreedWithTheLastSessionThatHasThem() {
    world.turn("a", 1, 2, 3, 4);
    world.turn("b", 1, 2, 3, 4);
    assertThat(world.close("a")).isZero();
    assertThat(world.cached(1, 2, 3, 4)).isEqualTo(4);
    assertThat(world.close("b")).isEqualTo(4);
    assertThat(world.cached(1, 2, 3, 4)).isZero();
  }

  /** Case S11: a session locks nothing; once evicted, there is nothing left to close. */
  @Test
  void aSlotLocksNothingBetweenTurns() {
    world.turn("a", 1, 2, 3, 4);
    assertThat(world.cache.protectedPages()).isZero();
    assertThat(world.cache.evictablePages()).isEqualTo(4);
    assertThat(world.slot("a").state()).isEqualTo(SlotState.WARM);
    assertThat(world.sessions.reclaim(4)).isEqualTo(4);
    assertThat(world.slot("a").state()).isEqualTo(SlotState.GONE);
    world.check();
    assertThat(world.close("a")).isZero();
  }

  /** Case S12: a turn that ends after its session closed leaves nothing. */
  @Test
  void aTurnThatEndsAfterTheCloseLeavesNothing() {
    SessionWorld.Turn late = world.begin("a", "main", 1, 2, 3, 4);
    world.commit(late, 2);
    assertThat(world.close("a")).isZero();
    world.end(late, 4, true);
    assertThat(world.allocator.free()).isEqualTo(64);
    assertThat(late.slot.isEmpty()).isTrue();
    SessionWorld.Turn other = world.begin("b", "main", 1, 2, 3, 4);
    SessionWorld.Turn again = world.begin("a", "main", 1, 2, 3, 4);
    world.close("b");
    world.close("a");
    world.end(other, 4, true);
    world.end(again, 4, true);
    assertThat(world.allocator.free()).isEqualTo(64);
  }

  /** Case S13: the end of a turn frees nothing of its session. */
  @Test
  void theEndOfATurnDoesNotFreeWhatTheSessionKeeps() {
    world.turn("a", 1, 2, 3, 4);
    world.turn("a", 1, 2, 3, 4, 5);
    assertThat(world.cached(1, 2, 3, 4, 5)).isEqualTo(5);
    assertThat(world.allocator.free()).isEqualTo(59);
  }

  @Test
  void aSessionOpenedAgainUnderTheSameIdIsANewOne() {
    SessionWorld.Turn late = world.begin("a", "main", 1, 2, 3);
    world.close("a");
    assertThat(world.turn("a", 1, 2, 7)).isZero();
    world.end(late, 3, true);
    assertThat(world.cached(1, 2, 7)).isEqualTo(3);
    assertThat(world.cached(1, 2, 3)).isEqualTo(2);
    assertThat(world.close("a")).isEqualTo(3);
  }

  @Test
  void anEarlierReplyThatWasMadeAgainIsFreed() {
    world.turn("a", 1, 2, 3, 4);
    world.turn("a", 1, 2, 8, 9);
    assertThat(world.cached(1, 2, 3, 4)).isEqualTo(2);
    assertThat(world.cached(1, 2, 8, 9)).isEqualTo(4);
    assertThat(world.close("a")).isEqualTo(4);
  }

  @Test
  void aRegeneratedReplyThatIsCancelledLeavesTheEarlierOne() {
    world.turn("a", 1, 2, 3, 4);
    world.end(world.begin("a", "main", 1, 2, 8, 9), 3, false);
    assertThat(world.cached(1, 2, 3, 4)).isEqualTo(4);
    assertThat(world.cached(1, 2, 8, 9)).isEqualTo(2);
  }

  /**
   * Cases S2 and S3, in which SGLang frees all that the session has: here an aborted turn leaves
   * what it computed, since its user has read it, and closing frees each page once.
   */
  @Test
  void aCancelledTurnIsKeptWhereItExtendsTheOneBefore() {
    world.turn("a", 1, 2);
    world.end(world.begin("a", "main", 1, 2, 3, 4), 3, false);
    assertThat(world.cached(1, 2, 3, 4)).isEqualTo(3);
    world.end(world.begin("b", "main", 7, 8), 1, false);
    assertThat(world.cached(7, 8)).isEqualTo(1);
    assertThat(world.close("a")).isEqualTo(3);
    assertThat(world.close("b")).isEqualTo(1);
  }

  @Test
  void aForkContinuesWhereItsBranchEndedAndClosingFreesBoth() {
    world.turn("a", 1, 2, 3);
    assertThat(world.turnOf("a", "other", 1, 2, 3, 7)).isEqualTo(3);
    assertThat(world.turn("a", 1, 2, 3, 8)).isEqualTo(3);
    assertThat(world.close("a")).isEqualTo(5);
  }

  @Test
  void beyondABoundTheBranchThatWasUsedLeastRecentlyIsDroppedWithItsOwnPages() {
    SessionWorld many = new SessionWorld(512, 1);
    for (int branch = 0; branch < 130; branch++) {
      many.turnOf("a", "b" + branch, 1, 1_000 + branch);
      many.turnOf("a", "b0", 1, 1_000);
    }
    assertThat(many.slot("a").positions()).hasSize(128);
    assertThat(many.cached(1, 1_000)).isEqualTo(2);
    assertThat(many.cached(1, 1_001)).isEqualTo(1);
    assertThat(many.cached(1, 1_129)).isEqualTo(2);
    assertThat(many.close("a")).isEqualTo(129);
    assertThat(many.cache.nodes()).isZero();
  }

  @Test
  void pagesOfNoSessionStayWhenASessionThatUsedThemCloses() {
    SessionWorld.Turn open = world.begin("b", "main", 1, 2, 3, 4);
    world.commit(open, 4);
    world.turn("a", 1, 2, 3, 4, 5);
    assertThat(world.close("a")).isEqualTo(1);
    world.end(open, 4, true);
    assertThat(world.cached(1, 2, 3, 4)).isEqualTo(4);
  }

  @Test
  void theNextTurnFillsThePageThatTheLastOneDidNot() {
    SessionWorld wide = new SessionWorld(8, 4);
    wide.turn("a", range(0, 6));
    assertThat(wide.sessions.sessionPages()).isEqualTo(1);
    assertThat(wide.turn("a", range(0, 11))).isEqualTo(6);
    assertThat(wide.sessions.sessionPages()).isEqualTo(1);
    assertThat(wide.allocator.free()).isEqualTo(5);
    assertThat(wide.close("a")).isEqualTo(3);
  }

  @Test
  void onlyTheUnchangedTokensOfAPartialPageAreUsed() {
    SessionWorld wide = new SessionWorld(8, 4);
    wide.turn("a", 0, 1, 2, 3, 4, 5, 6);
    assertThat(wide.turn("a", 0, 1, 2, 3, 4, 9, 9)).isEqualTo(5);
    assertThat(wide.turn("a", 0, 1, 8)).isEqualTo(0);
    assertThat(wide.sessions.sessionPages()).isEqualTo(1);
  }

  @Test
  void aPartialPageIsNotUsedWhereThePagesBeforeItAreGone() {
    SessionWorld wide = new SessionWorld(4, 4);
    wide.turn("a", range(0, 6));
    assertThat(wide.cache.evict(1)).isEqualTo(1);
    assertThat(wide.turn("a", range(0, 7))).isZero();
  }

  @Test
  void partialPagesAreEvictedFirst() {
    SessionWorld wide = new SessionWorld(4, 4);
    wide.turn("a", range(0, 6));
    wide.turn("b", range(10, 16));
    assertThat(wide.allocator.free()).isZero();
    wide.turn("c", range(20, 28));
    assertThat(wide.cached(range(0, 6))).isEqualTo(4);
    assertThat(wide.cached(range(10, 16))).isEqualTo(4);
    assertThat(wide.sessions.sessionPages()).isZero();
  }

  @Test
  void aSessionOverItsBoundLosesItsLastPagesFirst() {
    SessionBounds bounds = new SessionBounds(10, 10, 0.25, 1);
    SessionWorld small = new SessionWorld(16, 1, bounds, "lru");
    small.turn("a", 1, 2, 3);
    small.turn("b", range(10, 17));
    assertThat(small.sessions.reclaim(3)).isEqualTo(3);
    assertThat(small.cached(range(10, 17))).isEqualTo(4);
    assertThat(small.sessions.reclaim(1)).isEqualTo(1);
    assertThat(small.cached(1, 2, 3)).isEqualTo(2);
  }

  @Test
  void aTenantOverItsBoundLosesItsLeastRecentlyUsedPages() {
    SessionBounds bounds = new SessionBounds(10, 10, 1, 0.25);
    SessionWorld small = new SessionWorld(16, 1, bounds, "lru");
    small.turn("y", 50, 51, 52);
    small.turn("x1", 1, 2, 3);
    small.turn("x2", 11, 12, 13);
    assertThat(small.sessions.reclaim(2)).isEqualTo(2);
    assertThat(small.cached(1, 2, 3)).isEqualTo(1);
    assertThat(small.cached(50, 51, 52)).isEqualTo(3);
    assertThat(small.sessions.reclaim(1)).isEqualTo(1);
    assertThat(small.cached(50, 51, 52)).isEqualTo(2);
  }

  @Test
  void theLeastRecentlyUsedSessionIsDroppedWhenThereAreTooMany() {
    SessionWorld small = new SessionWorld(64, 1, new SessionBounds(3, 2, 1, 1), "lru");
    small.turn("x1", 1);
    small.turn("x2", 2);
    small.turn("x1", 1, 1);
    small.turn("x3", 3);
    assertThat(small.forgotten).containsExactly(small.slot("x2"));
    assertThat(small.cached(2)).isZero();
    small.turn("y", 4);
    small.turn("z", 5);
    assertThat(small.forgotten).containsExactly(small.slot("x2"), small.slot("x1"));
    assertThat(small.sessions.slots()).isEqualTo(3);
  }

  @Test
  void theTokensThatSessionsRememberAreBoundedByThePool() {
    SessionWorld small = new SessionWorld(8, 1);
    int[] shared = range(0, 8);
    for (int i = 0; i < 40; i++) {
      small.turn("s" + i, shared);
    }
    assertThat(small.sessions.slots()).isEqualTo(16);
    assertThat(small.cached(shared)).isEqualTo(8);
  }

  @Test
  void sessionsWithNothingCachedAreForgottenAsTurnsEnd() {
    world.turn("a", 1, 2);
    world.turn("b", 3, 4);
    world.sessions.reclaim(4);
    world.turn("c", 5);
    assertThat(world.forgotten).containsExactly(world.slot("a"), world.slot("b"));
    assertThat(world.sessions.slots()).isEqualTo(1);
  }

  @Test
  void aPositionInAResetPoolIsNotUsed() {
    SessionWorld other = new SessionWorld(64, 1);
    world.turn("a", 1, 2, 3);
    other.slots.put("a", world.slot("a"));
    assertThat(other.turn("a", 1, 2, 3, 4)).isZero();
    assertThat(other.cached(1, 2, 3, 4)).isEqualTo(4);
  }

  @Test
  void sessionBoundsOutOfRangeAreRefused() {
    assertThatThrownBy(() -> new SessionBounds(0, 1, 1, 1)).hasMessageContaining("at least 1");
    assertThatThrownBy(() -> new SessionBounds(1, 1, 1.5, 1)).hasMessageContaining("at most 1");
    assertThatThrownBy(() -> new SessionBounds(1, 1, 1, Double.NaN))
        .hasMessageContaining("at most 1");
  }
}
