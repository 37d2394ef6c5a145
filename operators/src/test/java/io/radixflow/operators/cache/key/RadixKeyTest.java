package io.radixflow.operators.cache.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.operators.cache.Turns;
import io.radixflow.operators.cache.compat.CompatKey;
import io.radixflow.operators.cache.policy.EvictionPolicies;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RadixKeyTest {

  private static int[] tokens(String text) {
    return Pattern.compile("\\d+")
        .matcher(text)
        .results()
        .mapToInt(token -> Integer.parseInt(token.group()))
        .toArray();
  }

  /** How much of {@code b} a cache with {@code a} finds; SGLang's kind of key must agree. */
  private static int match(int[] a, int[] b, int pageTokens) {
    Turns turns = new Turns(2048, pageTokens, EvictionPolicies.of("lru", 1, 1));
    turns.insert(a);
    int match = turns.matched(b);
    assertThat(compatMatch(a, b, false, pageTokens)).isEqualTo(match);
    return match;
  }

  private static int compatMatch(int[] a, int[] b, boolean bigram, int pageTokens) {
    return CompatKey.of(null, a, bigram).matchLength(CompatKey.of(null, b, bigram), pageTokens);
  }

  /** Case K1. */
  @Test
  void aKeyKeepsItsTokensAndItsNamespace() {
    int[] tokens = {1, 2, 3};
    RadixKey key = new RadixKey("test_key", tokens, 3);
    assertThat(key.tokens()).isSameAs(tokens);
    assertThat(key.namespace()).isEqualTo("test_key");
  }

  /** Case K2. */
  @Test
  void theLengthOfAKeyIsTheNumberOfItsTokens() {
    assertThat(RadixKey.of(1, 2, 3).length()).isEqualTo(3);
    assertThat(RadixKey.of().length()).isZero();
    assertThat(RadixKey.of(42).length()).isEqualTo(1);
    assertThat(RadixKey.of(1, 2, 3).tokens()).containsExactly(1, 2, 3);
  }

  /** A key may be of the beginning of an array, so that it need not be copied. */
  @Test
  void tokensBeyondTheLengthDoNotCount() {
    int[] tokens = {1, 2, 3, 4};
    assertThat(new RadixKey("", tokens, 2).length()).isEqualTo(2);
    assertThat(match(new int[] {1, 2}, tokens, 1)).isEqualTo(2);
    assertThatThrownBy(() -> new RadixKey("", tokens, 5))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  /**
   * Cases K3 and K4. A key of the cache that serves is borrowed whole and never cut; the other kind
   * is. Places count from the beginning only.
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

  /** Case K5. */
  @ParameterizedTest
  @CsvSource({
    "1 2 3 4, 1 2 3 4, 4",
    "1 2 3 4, 1 2 9 9, 2",
    "9 2 3, 1 2 3, 0",
    "1 2 3 4, 1 2 3, 3",
    "'', 1 2, 0",
    "1 2, '', 0",
    "'', '', 0"
  })
  void keysMatchAsFarAsTheirTokensAreEqual(String a, String b, int expected) {
    assertThat(match(tokens(a), tokens(b), 1)).isEqualTo(expected);
  }

  /** Case K6. */
  @ParameterizedTest
  @CsvSource({
    "1 2 3 4 5 6 7 8, 1 2 3 4 5 6 9 8, 4",
    "1 2 3 4, 1 9 3 4, 0",
    "1 2 3 4 5 6 7 8, 1 2 3 4 9 6 7 8, 4",
    "1 2 3 4 5 6 7 8, 1 2 3 4 5 6 7 8, 8",
    "1 2 3, 1 2 3, 0"
  })
  void onlyWholePagesMatch(String a, String b, int expected) {
    assertThat(match(tokens(a), tokens(b), 4)).isEqualTo(expected);
  }

  /** Case K7. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65, 127, 128, 511, 512, 513, 1234, 1999})
  void theFirstDifferenceIsFoundWhereverItIs(int place) {
    int[] same = IntStream.range(0, 2000).toArray();
    int[] other = same.clone();
    other[place] = -1;
    for (int pageTokens : new int[] {1, 4, 64}) {
      assertThat(match(same, other, pageTokens)).isEqualTo(place / pageTokens * pageTokens);
    }
    assertThat(match(same, same, 64)).isEqualTo(1984);
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
