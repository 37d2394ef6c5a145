package io.radixflow.lab.replay.sglang;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CompatKeyTest {

  private static int compatMatch(int[] a, int[] b, boolean bigram, int pageTokens) {
    return CompatKey.of(null, a, bigram).matchLength(CompatKey.of(null, b, bigram), pageTokens);
  }

  @Test
  void keysMatchInWholePagesAsFarAsTheirTokensAreEqual() {
    int[] eight = {1, 2, 3, 4, 5, 6, 7, 8};
    int[] other = {1, 2, 3, 4, 5, 6, 9, 8};
    assertThat(compatMatch(eight, other, false, 1)).isEqualTo(6);
    assertThat(compatMatch(eight, other, false, 4)).isEqualTo(4);
    assertThat(compatMatch(eight, new int[0], false, 1)).isZero();
    assertThat(compatMatch(new int[] {1, 2, 3}, new int[] {1, 2, 3}, false, 4)).isZero();
  }

  /**
   * Cases K3 and K4. A key of the radix cache is borrowed whole and never cut; SGLang's is.
   * Positions count from the beginning only.
   */
  @Test
  void aPartOfAKeyKeepsTheNamespace() {
    CompatKey key = CompatKey.of("extra", new int[] {1, 2, 3, 4, 5}, false);
    assertThat(key.slice(1, 4)).isEqualTo(CompatKey.of("extra", new int[] {2, 3, 4}, false));
    assertThat(key.slice(2, 2)).isEqualTo(CompatKey.of("extra", new int[0], false));
    assertThat(key.slice(0, 5)).isEqualTo(key);
    assertThat(key.slice(4, 5)).isEqualTo(CompatKey.of("extra", new int[] {5}, false));
    assertThat(key.slice(0, 5)).isNotEqualTo(CompatKey.of("", new int[] {1, 2, 3, 4, 5}, false));
    assertThatThrownBy(() -> key.slice(10, 11)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> key.slice(-1, 0)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  /** Case K8. */
  @Test
  void pairsMatchIfBothTokensDo() {
    int[] five = {1, 2, 3, 4, 5};
    assertThat(compatMatch(five, new int[] {1, 2, 3, 9, 5}, true, 1)).isEqualTo(2);
    assertThat(compatMatch(five, five, true, 1)).isEqualTo(4);
    assertThat(compatMatch(new int[] {1, 2}, new int[] {1, 2}, true, 1)).isEqualTo(1);
    int[] many = IntStream.range(0, 130).toArray();
    int[] diverging = many.clone();
    diverging[70] = -1;
    assertThat(compatMatch(many, diverging, true, 64)).isEqualTo(64);
    assertThat(compatMatch(new int[] {7}, new int[] {7}, true, 1)).isZero();
  }

  @Test
  void keysOfDifferentNamespacesDoNotCompare() {
    CompatKey compat = CompatKey.of(null, new int[] {1, 2, 3}, false);
    CompatKey other = CompatKey.of("", new int[] {1, 2, 3}, false);
    assertThatIllegalArgumentException().isThrownBy(() -> compat.matchLength(other, 1));
  }
}
