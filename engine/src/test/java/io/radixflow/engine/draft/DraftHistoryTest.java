package io.radixflow.engine.draft;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.draft.SpeculationOptions.Mode;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** What turns that have ended say about others of their namespace, and of no other. */
class DraftHistoryTest {
  private static final int[] TURN = IntStream.range(100, 160).toArray();

  private final DraftPolicy policy =
      new DraftPolicy(new SpeculationOptions(Mode.ALWAYS, 16, 1 << 20));

  private void remember(String namespace) {
    policy.remember(namespace, TURN, 0, 10, TURN.length);
  }

  /** The drafts of a reply that begins as the turn does. */
  private int drafts(String namespace) {
    Drafter drafter = policy.open(64, namespace);
    drafter.begin(new int[] {1, 2, 3}, 3, 3);
    IntStream.of(TURN).limit(20).forEach(drafter::append);
    policy.beginStep(1);
    int chosen = policy.choose(drafter, 0, 16);
    for (int i = 0; i < chosen; i++) {
      assertThat(drafter.token(i)).isEqualTo(TURN[20 + i]);
    }
    return chosen;
  }

  @Test
  void aReplyIsDraftedFromTurnsOfItsNamespace() {
    assertThat(drafts("a")).isZero();
    remember("a");
    assertThat(drafts("a")).isEqualTo(16);
  }

  @Test
  void turnsOfOtherNamespacesGiveNoDrafts() {
    remember("a");
    remember("");
    assertThat(drafts("b")).isZero();
  }

  @Test
  void turnsThatAreErasedGiveNoDraftsNotEvenToRunningReplies() {
    remember("a");
    Drafter running = policy.open(64, "a");
    running.begin(new int[] {1, 2, 3}, 3, 3);
    IntStream.of(TURN).limit(20).forEach(running::append);
    policy.erase();

    assertThat(policy.choose(running, 0, 16)).isZero();
    running.append(TURN[20]);
    assertThat(policy.choose(running, 0, 16)).isZero();
    assertThat(drafts("a")).isZero();
    assertThat(policy.stats().historyBytes()).isZero();
  }

  @Test
  void theNamespaceThatWasUsedLongestAgoMakesRoom() {
    DraftHistory history = new DraftHistory(1 << 16);
    history.add("a", TURN, 0, TURN.length);
    history.add("b", TURN, 0, TURN.length);
    for (int i = 0; i < 100; i++) {
      history.texts("a");
      history.add("c" + i, TURN, 0, TURN.length);
      assertThat(history.bytes()).isLessThanOrEqualTo(1 << 16);
    }
    assertThat(history.texts("a")).hasSize(1);
    assertThat(history.texts("b")).isEmpty();
    assertThat(history.texts("c99")).hasSize(1);
  }

  @Test
  void oneNamespaceKeepsItsLatestTurns() {
    DraftHistory history = new DraftHistory(4 << 20);
    int[] turn = IntStream.range(0, DraftHistory.TURN_TOKENS + 5).toArray();
    for (int i = 0; i < 60; i++) {
      history.add("a", turn, 0, turn.length);
      assertThat(history.bytes()).isLessThanOrEqualTo(4 << 20);
    }
    TextIndex[] texts = history.texts("a");
    assertThat(texts.length).isGreaterThan(1);
    assertThat(texts[texts.length - 1].at(0)).isEqualTo(5);
  }

  @Property
  void matchesAreThoseThatASearchOfTheTurnsFinds(
      @ForAll @Size(max = 40) int @IntRange(max = 3) [] turn,
      @ForAll @Size(min = 1, max = 10) int @IntRange(max = 3) [] reply) {
    DraftHistory history = new DraftHistory(1 << 20);
    history.add("a", turn, 0, turn.length);
    HistoryMatches matches = new HistoryMatches(history, "a");
    TextIndex own = new TextIndex(1);
    for (int token : reply) {
      own.add(token);
      matches.follow(own);
    }
    int longest = 0;
    for (int end = 0; end < turn.length; end++) {
      longest = Math.max(longest, commonSuffix(turn, end, reply));
    }
    if (matches.matches() == 0) {
      assertThat(longest).isLessThan(2);
    }
    for (int match = 0; match < matches.matches(); match++) {
      assertThat(matches.matchLength(match)).isBetween(1, longest);
      assertThat(matches.matchLength(matches.best()))
          .isGreaterThanOrEqualTo(matches.matchLength(match));
    }
  }

  private static int commonSuffix(int[] turn, int end, int[] reply) {
    int same = 0;
    while (same <= end
        && same < reply.length
        && turn[end - same] == reply[reply.length - 1 - same]) {
      same++;
    }
    return same;
  }
}
