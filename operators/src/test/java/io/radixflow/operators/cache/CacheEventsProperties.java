package io.radixflow.operators.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whoever applies the events has what look-ups find. */
class CacheEventsProperties {
  private static final int POOL = 40;

  /** Caches a key, lets a request hold it, ends one that does, or evicts. */
  record Operation(Kind kind, String namespace, int[] tokens, int number) {}

  enum Kind {
    INSERT,
    HOLD,
    RELEASE,
    EVICT,
    RESET
  }

  record Setting(int pageTokens, boolean bigram, String policy) {}

  @Property(tries = 500)
  void theEventsTellTheExactContent(
      @ForAll("settings") Setting setting, @ForAll("operations") List<Operation> operations) {
    EventedCache world =
        new EventedCache(
            POOL, setting.pageTokens, setting.bigram, EvictionPolicies.of(setting.policy, POOL, 1));
    List<RadixKey> seen = new ArrayList<>();
    List<TreeNode> held = new ArrayList<>();
    for (Operation operation : operations) {
      RadixKey key =
          new RadixKey(
              operation.namespace, operation.tokens, operation.tokens.length, setting.bigram);
      seen.add(key);
      switch (operation.kind) {
        case INSERT -> world.insert(key);
        case HOLD -> held.add(world.hold(key));
        case RELEASE -> {
          if (!held.isEmpty()) {
            world.cache.unlock(held.remove(operation.number % held.size()));
          }
        }
        case EVICT -> world.cache.evict(operation.number);
        case RESET -> {
          held.forEach(world.cache::unlock);
          held.clear();
          world.cache.reset();
        }
      }
      assertThat(world.view.keySet()).isEqualTo(found(world, seen, setting));
      assertThat(world.cache.content())
          .usingRecursiveFieldByFieldElementComparator()
          .containsExactlyInAnyOrderElementsOf(world.view.values());
    }
  }

  /** The names of all pages that look-ups of any key find, hashed anew. */
  private static Set<Long> found(EventedCache world, List<RadixKey> keys, Setting setting) {
    PageHasher hasher = new PageHasher(setting.pageTokens, setting.bigram);
    Set<Long> blocks = new HashSet<>();
    for (RadixKey key : keys) {
      byte[] digests =
          hasher.chain(PageHasher.seed(key.namespace()), key.tokens(), key.tokens().length);
      int matched = world.matched(key);
      for (int i = 0; i < matched; i++) {
        blocks.add(PageHasher.blockId(digests, i * PageHasher.BYTES));
      }
    }
    return blocks;
  }

  @Provide
  Arbitrary<Setting> settings() {
    return Combinators.combine(
            Arbitraries.of(1, 2, 4),
            Arbitraries.of(false, true),
            Arbitraries.of("lru", "lfu", "fifo", "mru", "filo", "slru", "priority"))
        .as(Setting::new);
  }

  @Provide
  Arbitrary<List<Operation>> operations() {
    return Combinators.combine(
            Arbitraries.of(
                Kind.INSERT, Kind.INSERT, Kind.HOLD, Kind.RELEASE, Kind.EVICT, Kind.RESET),
            Arbitraries.of("", "a"),
            Arbitraries.integers().between(0, 1).array(int[].class).ofMaxSize(24),
            Arbitraries.integers().between(0, 12))
        .as(Operation::new)
        .list()
        .ofMaxSize(40);
  }
}
