package io.radixflow.kernels.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Known answers published with Random123 (kat_vectors, philox4x32 10). */
class PhiloxTest {

  @Test
  void zeroCounterAndKeyGiveThePublishedBlock() {
    assertBlock(0, 0, 0, 0, 0, 0, 0xe169c58d6627e8d5L, 0x9b00dbd8bc57ac4cL);
  }

  @Test
  void aBlockOfOnesGivesThePublishedResult() {
    assertBlock(-1, -1, -1, -1, -1, -1, 0x41c83b0e408f276dL, 0x6d5451fda20bc7c6L);
  }

  @Test
  void digitsOfPiGiveThePublishedBlock() {
    assertBlock(
        0x243f6a88,
        0x85a308d3,
        0x13198a2e,
        0x03707344,
        0xa4093822,
        0x299f31d0,
        0x94fdccebd16cfe09L,
        0x24126ea15001e420L);
  }

  @Test
  void seedIsTheKeyAndPositionTheCounter() {
    assertThat(Philox.bits(0x299f31d0_a4093822L, 7))
        .isEqualTo(Philox.block(7, 0, 0, 0, 0xa4093822, 0x299f31d0, 0));
  }

  @Test
  void neighbouringPositionsAndSeedsDiffer() {
    assertThat(IntStream.range(0, 1000).mapToLong(p -> Philox.bits(p / 100, p % 100)))
        .doesNotHaveDuplicates();
  }

  private static void assertBlock(
      int c0, int c1, int c2, int c3, int k0, int k1, long words10, long words32) {
    assertThat(Philox.block(c0, c1, c2, c3, k0, k1, 0)).isEqualTo(words10);
    assertThat(Philox.block(c0, c1, c2, c3, k0, k1, 1)).isEqualTo(words32);
  }
}
