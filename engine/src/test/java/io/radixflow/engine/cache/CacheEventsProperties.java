package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.PageHasher;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
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
  record Operation(Kind kind, String namespace, int[] tokens, int number) {
    RadixKey key() {
      int publicTokens = Math.min(tokens.length, number % 3 * 4);
      return new RadixKey(namespace, tokens, tokens.length, publicTokens);
    }
  }

  enum Kind {
    INSERT,
    HOLD,
    RELEASE,
    FREE_END,
    EVICT,
    RESET
  }

  record Setting(int pageTokens, String policy) {}

  @Property(tries = 500)
  void theEventsTellTheExactContent(
      @ForAll("settings") Setting setting, @ForAll("operations") List<Operation> operations) {
    EventedCache world =
        new EventedCache(POOL, setting.pageTokens, EvictionPolicies.of(setting.policy, POOL, 1));
    List<RadixKey> seen = new ArrayList<>();
    List<TreeNode> held = new ArrayList<>();
    List<TreeNode> ended = new ArrayList<>();
    for (Operation operation : operations) {
      RadixKey key = operation.key();
      seen.add(key);
      switch (operation.kind) {
        case INSERT -> world.insert(key);
        case HOLD -> held.add(world.hold(key));
        case RELEASE -> {
          if (!held.isEmpty()) {
            TreeNode node = held.remove(operation.number % held.size());
            world.cache.unlock(node);
            ended.add(node);
          }
        }
        case FREE_END -> {
          if (!ended.isEmpty()) {
            TreeNode node = ended.remove(operation.number % ended.size());
            world.cache.freeEnd(node, node.endPage(), operation.number % 3);
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
      assertThat(shown(world.cache.content())).isEqualTo(shown(world.view.values()));
    }
  }

  private static Set<String> shown(Collection<KvEvent.Stored> blocks) {
    Set<String> shown = new HashSet<>();
    for (KvEvent.Stored stored : blocks) {
      shown.add(
          stored.block()
              + "<"
              + stored.parent()
              + "@"
              + stored.namespace()
              + Arrays.toString(stored.tokenIds()));
    }
    return shown;
  }

  /** Returns the names of all pages that look-ups of any key find, hashed again. */
  private static Set<Long> found(EventedCache world, List<RadixKey> keys, Setting setting) {
    PageHasher hasher = new PageHasher(setting.pageTokens);
    Set<Long> blocks = new HashSet<>();
    for (RadixKey key : keys) {
      byte[] digests = digests(hasher, key, setting.pageTokens);
      int matched = world.matched(key);
      for (int i = 0; i < matched; i++) {
        blocks.add(PageHasher.blockId(digests, i * PageHasher.BYTES));
      }
    }
    return blocks;
  }

  /** Returns the public pages' chain, and from there the namespace's own. */
  private static byte[] digests(PageHasher hasher, RadixKey key, int pageTokens) {
    int publicPages = key.publicPages(pageTokens);
    if (publicPages == 0) {
      return hasher.chain(PageHasher.seed(key.namespace()), key.tokens(), key.length());
    }
    byte[] whole = hasher.chain(null, key.tokens(), key.length());
    byte[] open = Arrays.copyOf(whole, publicPages * PageHasher.BYTES);
    byte[] last = Arrays.copyOfRange(open, open.length - PageHasher.BYTES, open.length);
    int[] rest = Arrays.copyOfRange(key.tokens(), publicPages * pageTokens, key.length());
    byte[] own = hasher.chain(PageHasher.seedBelow(last, key.namespace()), rest, rest.length);
    byte[] all = Arrays.copyOf(open, open.length + own.length);
    System.arraycopy(own, 0, all, open.length, own.length);
    return all;
  }

  @Provide
  Arbitrary<Setting> settings() {
    return Combinators.combine(Arbitraries.of(1, 2, 4), Arbitraries.of(EvictionPolicies.names()))
        .as(Setting::new);
  }

  @Provide
  Arbitrary<List<Operation>> operations() {
    return Combinators.combine(
            Arbitraries.of(
                Kind.INSERT,
                Kind.INSERT,
                Kind.HOLD,
                Kind.HOLD,
                Kind.RELEASE,
                Kind.FREE_END,
                Kind.EVICT,
                Kind.RESET),
            Arbitraries.of("", "a", "b"),
            Arbitraries.integers().between(0, 1).array(int[].class).ofMaxSize(24),
            Arbitraries.integers().between(0, 12))
        .as(Operation::new)
        .list()
        .ofMinSize(15)
        .ofMaxSize(40);
  }
}
