package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogitsResultTest {
  @Test
  void theLowerIdComesFirstAmongEqualLogits() {
    LogitsResult result = new LogitsResult(12);
    result.add(0, new float[] {1, 3, 1, 3, 1, 1, 1, 1, 1, 1, 1, 2});

    assertThat(result.row(0).topIds()).containsExactly(1, 3, 11, 0, 2, 4, 5, 6, 7, 8);
    assertThat(result.row(0).topLogits()).containsExactly(3, 3, 2, 1, 1, 1, 1, 1, 1, 1);
  }

  @Test
  void aSmallVocabularyHasFewerThanTen() {
    LogitsResult result = new LogitsResult(2);
    result.add(0, new float[] {-1, 2});

    assertThat(result.row(0).topIds()).containsExactly(1, 0);
    assertThat(result.row(0).sum()).isEqualTo(1);
    assertThat(result.row(0).l2()).isEqualTo(Math.sqrt(5));
  }

  @Test
  void theDigestIsOfLittleEndianFloats() {
    LogitsResult result = new LogitsResult(1);
    result.add(0, new float[] {1f});

    // printf '\x00\x00\x80\x3f' | sha256sum
    assertThat(result.digest())
        .isEqualTo("e00e5eb9444182f352323374ef4e08ebcb784725fdd4fd612d7730540b3e0c8c");
  }
}
