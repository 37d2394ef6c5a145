package io.radixflow.kernels.cpu.attention;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.kernel.NativeIsas;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Native code reads no page that lies outside the arrays it is given. */
class NativePageAttentionTest {

  private static final int WIDTH = 4;
  private static final int PAGE = WIDTH * CpuKvPool.PAGE_TOKENS;

  private final float[] scores = new float[2 * CpuKvPool.PAGE_TOKENS];

  @BeforeEach
  void natives() {
    NativeIsas.required();
  }

  private void score(int... list) {
    Object[] arrays = {new short[PAGE], new short[2 * PAGE]};
    NativePageAttention.scores(
        0, arrays, list, new float[WIDTH], new int[1], 1, 1f, scores, 0, scores.length);
  }

  @Test
  void pagesThatEndWithTheirArraysAreRead() {
    score(1, WIDTH, PAGE, 2, 1, 1, 0);
    score(1, WIDTH, 0, 2, 2, 0, 0, 1, PAGE);

    assertThat(scores).containsOnly(0f);
  }

  @ParameterizedTest
  @CsvSource({
    "a type that is none, 3 4 0 2 1 0 0",
    "no width, 1 0 0 2 1 0 0",
    "more arrays than there are, 1 4 0 3 1 0 0",
    "more arrays than are pinned at once, 1 4 0 65 1 0 0",
    "more pages than the list has, 1 4 0 2 2 0 0",
    "more pages than one call takes, 1 4 0 2 2049 0 0",
    "fewer pages than none, 1 4 0 2 -1 0 0",
    "no whole head, 1 4 0 2",
    "the number of no array, 1 4 0 2 1 2 0",
    "a negative number, 1 4 0 2 1 -1 0",
    "a page behind the end, 1 4 0 2 1 1 65",
    "a page before the start, 1 4 0 2 1 0 -1",
    "keys before the start of their page, 1 4 -1 2 1 1 1",
    "keys behind the end of their page, 1 4 65 2 1 1 0",
    "a second page behind the end, 1 4 0 2 2 1 0 0 1",
    "a page with scales behind the end, 2 4 0 2 1 0 0"
  })
  void anyOtherListIsRefused(String reason, String list) {
    int[] numbers = Arrays.stream(list.split(" ")).mapToInt(Integer::parseInt).toArray();

    assertThatThrownBy(() -> score(numbers))
        .as(reason)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("page list");
  }
}
