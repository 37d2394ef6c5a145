package io.radixflow.engine.cache.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.cache.Turns;
import io.radixflow.engine.cache.policy.EvictionPolicies;
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

  /** Returns how much of {@code b} a cache with {@code a} finds. */
  private static int match(int[] a, int[] b, int pageTokens) {
    Turns turns = new Turns(2048, pageTokens, EvictionPolicies.of("lru", 1, 1));
    turns.insert(a);
    return turns.matched(b);
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
}
