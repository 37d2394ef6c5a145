package io.radixflow.kernels.cpu.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class HeadQueriesTest {

  @Test
  void scoresHaveRoomForWholeGroupsOfQueriesOverAllPages() {
    HeadQueries queries = new HeadQueries();
    queries.ensure(5, 100);
    assertThat(queries.scores).hasSizeGreaterThanOrEqualTo(8 * 100 * CpuKvPool.PAGE_TOKENS);
  }

  @Test
  void scoresThatExceedAnArrayAreRefused() {
    HeadQueries queries = new HeadQueries();
    assertThatThrownBy(() -> queries.ensure(1 << 10, 1 << 18))
        .isInstanceOf(ArithmeticException.class);
  }
}
