package io.radixflow.lab.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativeReplayTest {
  private static final TraceCounts UNKNOWN = new TraceCounts(-1, -1, -1, -1, -1);

  private final List<Mismatch> mismatches = new ArrayList<>();
  private final ReplayReport report = new ReplayReport(mismatches::add);

  private static TraceStep insert(int firstSlot, int present, int... tokens) {
    return new TraceStep(new TraceOperation.Insert(null, tokens, firstSlot, 0, present), UNKNOWN);
  }

  private static TraceStep match(Integer lock, int[] slots, int... tokens) {
    return new TraceStep(
        new TraceOperation.Match(null, tokens, lock, slots.length, slots), UNKNOWN);
  }

  private static TraceStep evict(int request) {
    return new TraceStep(new TraceOperation.Evict(request, 0, new int[0]), UNKNOWN);
  }

  private void replay(TraceSetup setup, TraceStep... steps) {
    NativeReplay replay =
        new NativeReplay(setup, NativeReplay.pagesFor(setup, List.of(steps)), report);
    for (TraceStep step : steps) {
      replay.apply(step);
    }
  }

  private List<String> fields() {
    return mismatches.stream().map(Mismatch::field).toList();
  }

  @Test
  void theCountsOfTheTraceHoldUntilAPageIsEvicted() {
    replay(new TraceSetup("lru", 1, false), insert(1, 0, 5, 6), evict(1), insert(3, 0, 5, 6));
    assertThat(fields()).containsExactly("evictable", "protected", "total");
    assertThat(mismatches.get(2)).hasToString("operation 0, total: expected -1, found 2");
  }

  @Test
  void anEvictionOfNothingChangesNoRule() {
    replay(new TraceSetup("lru", 1, false), evict(5), insert(1, 3, 5, 6));
    assertThat(fields())
        .containsExactly(
            "evictable", "protected", "total", "prefixLen", "evictable", "protected", "total");
  }

  @Test
  void slotsFollowTheirTokensAlsoWhereTheyBeginWithinAPage() {
    TraceSetup setup = new TraceSetup("lru", 2, false);
    replay(
        setup,
        insert(7, 0, 1, 2, 3),
        insert(20, 2, 1, 2, 3, 4, 5, 6),
        match(null, new int[] {7, 8, 22, 23, 24, 25}, 1, 2, 3, 4, 5, 6, 7));
    assertThat(fields()).doesNotContain("matched", "values", "prefixLen");
    assertThat(report.matched()).isEqualTo(6);
  }

  @Test
  void anEvictionIsRoundedUpToWholePages() {
    TraceSetup setup = new TraceSetup("lru", 4, false);
    replay(setup, insert(1, 0, 1, 2, 3, 4, 5, 6, 7, 8), evict(1));
    assertThat(report.evicted()).isEqualTo(4);
    assertThat(fields()).doesNotContain("evicted");
  }

  @Test
  void lockedPagesAreNotEvicted() {
    TraceSetup setup = new TraceSetup("lru", 1, false);
    replay(
        setup,
        insert(1, 0, 1, 2, 3),
        match(9, new int[] {1, 2}, 1, 2),
        evict(100),
        match(null, new int[] {1, 2}, 1, 2, 3));
    assertThat(report.evicted()).isEqualTo(1);
    assertThat(report.matched()).isEqualTo(4);
    assertThat(fields()).doesNotContain("matched", "values", "freedValues", "evicted");
  }

  @Test
  void aPolicyWithoutAModelIsRefused() {
    TraceSetup setup = new TraceSetup("best", 1, false);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> replay(setup))
        .withMessageContaining("'best'");
  }
}
