package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Policies whose order no simple model foretells: what holds whichever page goes first. */
class LearnedEvictionProperties {
  private static final int POOL = 40;

  enum Kind {
    SERVE,
    BEGIN,
    END,
    PUT_BACK,
    RAISE,
    EVICT,
    FREE_END
  }

  record Operation(Kind kind, int[] tokens, int number) {}

  private record Held(TreeNode node, int pages) {}

  private static final class World {
    final PageAllocator allocator = new PageAllocator(POOL, page -> {});
    final EvictionPolicy policy;
    final RadixCache cache;
    final List<Held> held = new ArrayList<>();
    final List<Held> ended = new ArrayList<>();
    long now;

    World(String name) {
      policy = EvictionPolicies.of(name, POOL, 0.8);
      cache = new RadixCache(allocator, 1, policy, 1);
    }

    void apply(Operation operation) {
      now++;
      cache.expire(now);
      switch (operation.kind) {
        case SERVE -> {
          begin(operation.tokens, operation.number);
          end(held.size() - 1, true);
        }
        case BEGIN -> begin(operation.tokens, operation.number);
        case END -> end(operation.number, true);
        case PUT_BACK -> end(operation.number, false);
        case RAISE -> raise(operation.number);
        case EVICT -> evict(operation.number);
        case FREE_END -> freeEnd(operation.number);
      }
      assertThat(PageAudit.countersAgree(allocator, cache)).isTrue();
      assertThat(cache.recount()).isTrue();
    }

    private void begin(int[] tokens, int turn) {
      RadixKey key = new RadixKey("", tokens, tokens.length);
      PrefixMatch match = cache.match(key, tokens.length);
      TreeNode node = cache.lock(key, match);
      evict(tokens.length - match.pages() - allocator.free());
      int[] table = new int[tokens.length];
      int end = match.pages();
      while (end < tokens.length && allocator.free() > 0) {
        table[end++] = allocator.allocate();
      }
      PrefixMatch inserted = cache.insert(node, key, match.pages(), end, table, true, 0);
      cache.storedInTurn(inserted.node(), turn);
      held.add(new Held(inserted.node(), inserted.pages()));
    }

    private void end(int number, boolean hit) {
      if (!held.isEmpty()) {
        Held each = held.remove(number % held.size());
        cache.unlock(each.node, hit);
        ended.add(each);
      }
    }

    private void raise(int number) {
      if (!held.isEmpty()) {
        Held each = held.get(number % held.size());
        cache.retain(each.node, number % 3, each.pages, number % 5 - 2, now + number);
      }
    }

    private void freeEnd(int number) {
      if (!ended.isEmpty()) {
        Held each = ended.get(number % ended.size());
        cache.freeEnd(each.node, each.pages, number % 3);
      }
    }

    /** Every victim is an unlocked leaf, and exactly its last page is freed. */
    private void evict(int count) {
      for (int i = 0; i < count; i++) {
        TreeNode victim = policy.victim();
        if (victim == null) {
          assertThat(cache.evictablePages()).isZero();
          return;
        }
        assertThat(victim.lockCount).isZero();
        assertThat(victim.children.size()).isZero();
        int page = victim.page(victim.pageCount() - 1);
        assertThat(cache.evict(1)).isEqualTo(1);
        assertThat(allocator.agrees(page, false, false, false)).isTrue();
      }
    }
  }

  @Property(tries = 600)
  void onlyUnlockedLeavesAreVictimsAndEachOfThemIsOneInTheEnd(
      @ForAll("runs") Tuple.Tuple2<String, List<Operation>> run) {
    World world = new World(run.get1());
    run.get2().forEach(world::apply);
    while (!world.held.isEmpty()) {
      world.end(0, true);
    }
    world.evict(POOL);
    assertThat(world.allocator.free()).isEqualTo(POOL);
    assertThat(world.cache.nodes()).isZero();
  }

  @Provide
  Arbitrary<Tuple.Tuple2<String, List<Operation>>> runs() {
    Arbitrary<int[]> tokens =
        Arbitraries.integers().between(0, 2).array(int[].class).ofMinSize(1).ofMaxSize(12);
    Arbitrary<Operation> operation =
        Combinators.combine(
                Arbitraries.of(Kind.class), tokens, Arbitraries.integers().between(0, 9))
            .as(Operation::new);
    return Combinators.combine(
            Arbitraries.of("adaptive", "lfu-ghost"), operation.list().ofMaxSize(150))
        .as(Tuple::of);
  }
}
