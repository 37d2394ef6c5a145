package io.radixflow.kernels.cpu.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.kernel.RowMemory;
import org.junit.jupiter.api.Test;

class HeadQueriesTest {

  @Test
  void scoresHaveRoomForWholeGroupsOfQueriesOverAllPages() {
    HeadQueries queries = new HeadQueries(new RowMemory());
    queries.ensure(5, 100);
    assertThat(queries.scores.length()).isGreaterThanOrEqualTo(8 * 100 * CpuKvPool.PAGE_TOKENS);
  }

  @Test
  void moreScoresThanHaveNumbersAreRefused() {
    HeadQueries queries = new HeadQueries(new RowMemory());
    assertThatThrownBy(() -> queries.ensure(1 << 10, 1 << 18))
        .isInstanceOf(ArithmeticException.class);
  }
}
