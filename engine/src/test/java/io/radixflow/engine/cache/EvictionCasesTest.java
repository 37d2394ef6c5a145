package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.cache.policy.SlruPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In which order the cache that serves evicts sequences of one token, by policy. */
class EvictionCasesTest {

  private static Turns turns(String policy) {
    return new Turns(1, policy);
  }

  private static void insertTimes(Turns turns, int times, int token) {
    for (int i = 0; i < times; i++) {
      turns.insert(token);
    }
  }

  /** Evicts one token after the other and says which went. */
  private static List<Integer> evicted(Turns turns, Integer... candidates) {
    List<Integer> left = new ArrayList<>(List.of(candidates));
    List<Integer> order = new ArrayList<>();
    while (!left.isEmpty()) {
      assertThat(turns.evict(1)).isEqualTo(1);
      List<Integer> gone = left.stream().filter(token -> turns.matched(token) == 0).toList();
      assertThat(gone).hasSize(1);
      order.addAll(gone);
      left.removeAll(gone);
    }
    return order;
  }

  /** Case E1. */
  @Test
  void lruEvictsTheLeastRecentlyUsedFirst() {
    Turns turns = turns("lru");
    turns.insert(1);
    turns.insert(2);
    turns.insert(3);
    turns.touch(1);
    assertThat(evicted(turns, 1, 2, 3)).containsExactly(2, 3, 1);
  }

  /** Case E2. */
  @Test
  void lfuEvictsTheLeastOftenInsertedFirstAndOfEqualsTheOlder() {
    Turns turns = turns("lfu");
    insertTimes(turns, 100, 1);
    turns.insert(2);
    turns.insert(3);
    turns.touch(2);
    turns.touch(2);
    assertThat(evicted(turns, 1, 2, 3)).containsExactly(3, 2, 1);
  }

  /** Case E3. */
  @Test
  void fifoEvictsTheFirstCreatedFirst() {
    Turns turns = turns("fifo");
    turns.insert(1);
    turns.insert(5);
    insertTimes(turns, 3, 1);
    assertThat(evicted(turns, 1, 5)).containsExactly(1, 5);
  }

  /** Case E4. */
  @Test
  void mruEvictsTheMostRecentlyUsedFirst() {
    Turns turns = turns("mru");
    turns.insert(1);
    turns.insert(2);
    turns.insert(3);
    turns.touch(1);
    assertThat(evicted(turns, 1, 2, 3)).containsExactly(1, 3, 2);
  }

  /** Case E5. */
  @Test
  void filoEvictsTheLastCreatedFirst() {
    Turns turns = turns("filo");
    turns.insert(1);
    turns.insert(2);
    turns.insert(3);
    turns.touch(1);
    assertThat(evicted(turns, 1, 2, 3)).containsExactly(3, 2, 1);
  }

  /** Case E6. */
  @Test
  void priorityEvictsTheLowestFirstAndOfEqualsTheOlder() {
    Turns turns = turns("priority");
    turns.insert(turns.key("", 1), 5);
    turns.insert(turns.key("", 2), 1);
    turns.insert(turns.key("", 3), 1);
    turns.touch(2);
    assertThat(evicted(turns, 1, 2, 3)).containsExactly(3, 2, 1);
  }

  /** Case E7; 2 is what the configuration gives. */
  @ParameterizedTest
  @ValueSource(ints = {2, 5})
  void slruProtectsWhatWasInsertedAsOftenAsItsThreshold(int threshold) {
    EvictionPolicy policy =
        threshold == 2
            ? EvictionPolicies.of("slru", 16, 1)
            : new SlruPolicy(threshold, Integer.MAX_VALUE);
    Turns turns = new Turns(16, 1, policy);
    insertTimes(turns, threshold, 1);
    insertTimes(turns, 100, 2);
    insertTimes(turns, threshold - 1, 3);
    turns.insert(4);
    assertThat(evicted(turns, 1, 2, 3, 4)).containsExactly(3, 4, 1, 2);
  }

  /** Case E8: 1 and 3 are inserted once, 2 and 4 are protected; 3 is used last. */
  @Test
  void slruEvictsTheUnprotectedByAgeThenTheProtectedByAge() {
    Turns turns = turns("slru");
    turns.insert(1);
    insertTimes(turns, 5, 2);
    turns.insert(3);
    insertTimes(turns, 3, 4);
    turns.touch(3);
    assertThat(evicted(turns, 1, 2, 3, 4)).containsExactly(1, 3, 2, 4);
  }

  /** Case E9. */
  @Test
  void slruKeepsWhatIsUsedAgainThroughAScan() {
    Turns turns = turns("slru");
    for (int i = 0; i < 3; i++) {
      turns.insert(1, 2);
    }
    turns.insert(5, 6);
    for (int token : new int[] {10, 11, 12, 13, 12, 14, 16, 18}) {
      turns.insert(token);
    }
    assertThat(turns.evict(4)).isEqualTo(4);
    assertThat(turns.matched(1, 2)).isEqualTo(2);
    assertThat(turns.matched(5, 6)).isZero();
  }

  /** Case E10. */
  @ParameterizedTest
  @ValueSource(strings = {"lru", "lfu", "fifo", "mru", "filo", "slru", "priority"})
  void policiesAreFoundByNameInAnyCaseAndAreNotShared(String name) {
    EvictionPolicy policy = EvictionPolicies.of(name, 8, 1);
    EvictionPolicy other = EvictionPolicies.of(name.toUpperCase(Locale.ROOT), 8, 1);
    assertThat(policy.name()).isEqualTo(name);
    assertThat(other.name()).isEqualTo(name);
    assertThat(other).isNotSameAs(policy);
  }

  /** Case E10, of a name that there is not. */
  @Test
  void anUnknownPolicyIsRefusedWithTheNamesThereAre() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EvictionPolicies.of("best", 8, 1))
        .withMessageContaining("'best'")
        .withMessageContaining(String.join(", ", EvictionPolicies.names()));
  }
}
