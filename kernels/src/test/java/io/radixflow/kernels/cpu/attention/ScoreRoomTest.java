package io.radixflow.kernels.cpu.attention;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.kernel.RowMemory;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ScoreRoomTest {

  @Test
  void aLongContextHasBlocksOfFewerRows() {
    ScoreRoom room = new ScoreRoom(8, 8);

    assertThat(room.rows(1)).isEqualTo(8);
    assertThat(room.rows(32_768)).isEqualTo(8);
    assertThat(room.rows(131_072)).isEqualTo(2);
    assertThat(room.rows(1 << 20)).isEqualTo(1);
  }

  @Property
  void scoresStayBelowTheLimitUnlessThoseOfOneRowAreMore(
      @ForAll @IntRange(min = 1, max = 64) int queries,
      @ForAll @IntRange(min = 1, max = 16) int rows,
      @ForAll @IntRange(min = 1, max = 2_000_000) int tokens) {
    ScoreRoom room = new ScoreRoom(queries, rows);
    long row = (long) queries * tokens;

    assertThat(room.rows(tokens) * row).isLessThanOrEqualTo(room.scores(tokens));
    assertThat(room.scores(tokens)).isLessThanOrEqualTo(Math.max(row, ScoreRoom.MOST));
  }

  @Property
  void anArrayThatGrowsStaysWithinTheRoomOfTheLargest(
      @ForAll @IntRange(min = 1, max = 500) int pages) {
    HeadQueries q = new HeadQueries(new RowMemory());
    q.keyDim = 8;
    q.valueDim = 8;
    int most = 0;
    for (int p = 1; p <= pages; p += 7) {
      q.ensure(16, p);
      most = p;
    }

    assertThat(q.scores.length())
        .isGreaterThanOrEqualTo(16 * 16 * most)
        .isLessThanOrEqualTo((int) ScoreRoom.withRoomToGrow(16 * 16 * most));
  }
}
