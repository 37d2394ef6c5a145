package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Tests what tenants can learn of each other from the cache: nothing but that pages are scarce. */
class NamespaceProperties {
  private static final int PLENTY = 4096;
  private static final int SCARCE = 24;

  /**
   * What a tenant does.
   *
   * @param publicTokens of its key, if it shares its system prompt
   */
  record Operation(Kind kind, String tenant, int[] tokens, int publicTokens, int number) {
    RadixKey key(Setting setting) {
      return new RadixKey(
          tenant,
          tokens,
          tokens.length,
          setting.sharing ? Math.min(publicTokens, tokens.length) : 0);
    }

    @Override
    public String toString() {
      return kind + " " + tenant + Arrays.toString(tokens) + "/" + publicTokens + "/" + number;
    }
  }

  enum Kind {
    MATCH,
    HOLD,
    RELEASE,
    RESUME,
    EVICT
  }

  /**
   * @param sharing whether the tenants have opted in to share their system prompts
   */
  record Setting(int pageTokens, String policy, boolean sharing) {}

  /** A request of a tenant, as the engine would have it. */
  private record Holder(RadixKey key, TreeNode node, int pages) {}

  /** A cache whose pages remember what was written to them, and by whom. */
  private static final class World {
    final Setting setting;
    final PageAllocator allocator;
    final RadixCache cache;
    final String[] written;
    final List<Holder> holders = new ArrayList<>();
    final List<Holder> ended = new ArrayList<>();

    World(Setting setting, int pool) {
      this.setting = setting;
      allocator = new PageAllocator(pool, page -> {});
      written = new String[pool];
      cache =
          new RadixCache(
              allocator, setting.pageTokens, EvictionPolicies.of(setting.policy, pool, 1), 1);
    }

    /** Does it, and returns how many pages the tenant found; -1 if it did not look. */
    int apply(Operation operation) {
      RadixKey key = operation.key(setting);
      return switch (operation.kind) {
        case MATCH -> look(cache.match(key, Integer.MAX_VALUE), key);
        case HOLD -> hold(key);
        case RELEASE -> {
          Holder holder = pick(holders, operation);
          if (holder != null) {
            holders.remove(holder);
            ended.add(holder);
            cache.unlock(holder.node);
          }
          yield -1;
        }
        case RESUME -> {
          Holder before = pick(ended, operation);
          if (before == null) {
            yield -1;
          }
          RadixKey longer = keyOf(operation);
          yield look(cache.match(longer, Integer.MAX_VALUE, before.node, before.pages), longer);
        }
        case EVICT -> {
          cache.evict(operation.number);
          yield -1;
        }
      };
    }

    /** Returns the text that the tenant looks for. */
    RadixKey keyOf(Operation operation) {
      Holder before = operation.kind == Kind.RESUME ? pick(ended, operation) : null;
      RadixKey key = operation.key(setting);
      return before == null ? key : extended(before.key, key.tokens());
    }

    private Holder pick(List<Holder> from, Operation operation) {
      List<Holder> own =
          from.stream().filter(h -> h.key.namespace().equals(operation.tenant)).toList();
      return own.isEmpty() ? null : own.get(operation.number % own.size());
    }

    private static RadixKey extended(RadixKey key, int[] more) {
      int[] tokens = Arrays.copyOf(key.tokens(), key.length() + more.length);
      System.arraycopy(more, 0, tokens, key.length(), more.length);
      return new RadixKey(key.namespace(), tokens, tokens.length, key.publicTokens());
    }

    private int hold(RadixKey key) {
      PrefixMatch match = cache.match(key, Integer.MAX_VALUE);
      int found = look(match, key);
      TreeNode locked = cache.lock(key, match);
      int[] table = new int[key.pages(setting.pageTokens)];
      cache.copyPages(locked, match.pages(), table);
      int end = match.pages();
      while (end < table.length && allocator.free() > 0) {
        int page = allocator.allocate();
        written[page] = content(key, end);
        table[end++] = page;
      }
      PrefixMatch inserted = cache.insert(locked, key, match.pages(), end, table, true);
      holders.add(new Holder(key, inserted.node(), inserted.pages()));
      return found;
    }

    /** Checks that each page that was found is the key's own, and returns how many these are. */
    private int look(PrefixMatch match, RadixKey key) {
      if (match.pages() == 0) {
        return 0;
      }
      int[] table = new int[match.pages() + match.node().pageCount()];
      cache.copyPages(
          match.node(), match.pages() + match.node().pageCount() - match.offset(), table);
      for (int i = 0; i < match.pages(); i++) {
        assertThat(written[table[i]]).isEqualTo(content(key, i));
      }
      return match.pages();
    }

    /** Whose page it is and all that its keys and values depend on. */
    private String content(RadixKey key, int page) {
      int end = (page + 1) * setting.pageTokens;
      return key.namespaceAt(page, setting.pageTokens)
          + Arrays.toString(Arrays.copyOf(key.tokens(), end));
    }
  }

  @Property(tries = 1000)
  void aTenantFindsWhatItWouldFindAlone(
      @ForAll("settings") Setting setting, @ForAll("operations") List<Operation> operations) {
    World shared = new World(setting, PLENTY);
    World alone = new World(setting, PLENTY);
    for (Operation operation : operations) {
      if (operation.kind == Kind.EVICT) {
        continue;
      }
      RadixKey key = shared.keyOf(operation);
      int found = shared.apply(operation);
      if (operation.tenant.equals("a")) {
        int foundAlone = alone.apply(operation);
        if (found != foundAlone) {
          assertThat(foundAlone).isLessThan(found);
          assertThat(found)
              .as("only system prompts are shared")
              .isLessThanOrEqualTo(key.publicPages(setting.pageTokens));
        }
      }
    }
  }

  @Property(tries = 1000)
  void noPageIsGivenToTwoOwners(
      @ForAll("settings") Setting setting, @ForAll("operations") List<Operation> operations) {
    World world = new World(setting, SCARCE);
    operations.forEach(world::apply);
    world.holders.forEach(holder -> world.cache.unlock(holder.node));
    world.cache.reset();
    assertThat(world.allocator.free()).isEqualTo(SCARCE);
    assertThat(world.cache.nodes()).isZero();
  }

  @Provide
  Arbitrary<Setting> settings() {
    return Combinators.combine(
            Arbitraries.of(1, 2, 4),
            Arbitraries.of(EvictionPolicies.names()),
            Arbitraries.of(false, true))
        .as(Setting::new);
  }

  /** Mostly prefixes of one sequence, so that keys meet. */
  private static Arbitrary<int[]> tokens() {
    return Arbitraries.frequencyOf(
        Tuple.of(3, Arbitraries.integers().between(0, 16).map(int[]::new)),
        Tuple.of(1, Arbitraries.integers().between(0, 1).array(int[].class).ofMaxSize(16)));
  }

  @Provide
  Arbitrary<List<Operation>> operations() {
    return Combinators.combine(
            Arbitraries.of(
                Kind.MATCH,
                Kind.HOLD,
                Kind.HOLD,
                Kind.RELEASE,
                Kind.RELEASE,
                Kind.RESUME,
                Kind.RESUME,
                Kind.EVICT),
            Arbitraries.of("a", "b", NamespaceKey.PUBLIC),
            tokens(),
            Arbitraries.of(0, 4, 8, 9),
            Arbitraries.integers().between(0, 12))
        .as(Operation::new)
        .list()
        .ofMinSize(30)
        .ofMaxSize(80);
  }
}
