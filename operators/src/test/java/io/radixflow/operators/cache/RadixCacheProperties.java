package io.radixflow.operators.cache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** The tree against a map of page prefixes, operation by operation. */
class RadixCacheProperties {
  private static final int POOL = 48;

  /** What to do next; what the numbers mean depends on the kind. */
  record Operation(Kind kind, int[] tokens, int number) {
    @Override
    public String toString() {
      return kind + Arrays.toString(tokens) + "/" + number;
    }
  }

  enum Kind {
    MATCH,
    START,
    EXTEND,
    EXTEND_WITHOUT_REDIRECT,
    FINISH,
    EVICT
  }

  /** A request that holds pages, as the engine would. */
  private static final class Holder {
    int[] tokens;
    int[] table;
    int pages;
    int locked;
    TreeNode node;
  }

  /** Tree, model and the requests that use both. */
  private static final class World {
    final int pageTokens;
    final PageAllocator allocator = new PageAllocator(POOL, page -> {});
    final RadixCache cache;
    final NaiveCache model;
    final PageAudit audit;
    final List<Holder> holders = new ArrayList<>();

    World(int pageTokens) {
      this.pageTokens = pageTokens;
      cache = new RadixCache(allocator, pageTokens);
      model = new NaiveCache(pageTokens);
      audit = new PageAudit(allocator, cache);
    }

    void apply(Operation operation) {
      switch (operation.kind) {
        case MATCH -> match(operation.tokens);
        case START -> start(operation.tokens);
        case EXTEND -> extend(operation.number, true);
        case EXTEND_WITHOUT_REDIRECT -> extend(operation.number, false);
        case FINISH -> finish(operation.number);
        case EVICT -> evict(operation.number);
      }
      check();
    }

    private PrefixMatch match(int[] tokens) {
      int nodes = cache.nodes();
      PrefixMatch match = cache.match(RadixKey.of(tokens), Integer.MAX_VALUE);
      assertThat(match.pages()).isEqualTo(model.match(tokens).size());
      assertThat(cache.nodes()).isEqualTo(nodes);
      return match;
    }

    private void start(int[] tokens) {
      Holder holder = new Holder();
      holder.tokens = tokens;
      PrefixMatch match = match(tokens);
      holder.node = cache.lock(RadixKey.of(tokens), match);
      model.lock(tokens, 0, match.pages());
      int all = tokens.length / pageTokens;
      holder.table = new int[all];
      holder.pages = match.pages();
      holder.locked = match.pages();
      cache.copyPages(holder.node, match.pages(), holder.table);
      assertThat(Arrays.stream(holder.table, 0, match.pages()).boxed())
          .containsExactlyElementsOf(model.match(tokens));
      while (holder.pages < all && allocator.free() > 0) {
        holder.table[holder.pages++] = allocator.allocate();
      }
      holders.add(holder);
    }

    private void extend(int number, boolean redirect) {
      if (holders.isEmpty()) {
        return;
      }
      Holder holder = holders.get(number % holders.size());
      int to = Math.min(holder.pages, holder.locked + 1 + number % 4);
      List<Integer> cached = model.match(holder.tokens);
      PrefixMatch end =
          cache.insert(
              holder.node, RadixKey.of(holder.tokens), holder.locked, to, holder.table, redirect);
      assertThat(end.pages()).isLessThanOrEqualTo(Math.max(to, holder.locked));
      for (int i = holder.locked; i < end.pages(); i++) {
        if (i < cached.size()) {
          assertThat(holder.table[i]).isEqualTo(cached.get(i));
        } else {
          model.add(holder.tokens, i, holder.table[i]);
        }
      }
      boolean duplicates = cached.size() > holder.locked;
      assertThat(end.pages())
          .isEqualTo(duplicates && !redirect ? holder.locked : Math.max(to, holder.locked));
      model.lock(holder.tokens, holder.locked, end.pages());
      holder.locked = end.pages();
      holder.node = end.node();
    }

    private void finish(int number) {
      if (holders.isEmpty()) {
        return;
      }
      Holder holder = holders.remove(number % holders.size());
      for (int i = 0; i < holder.pages; i++) {
        if (allocator.isInFlight(holder.table[i])) {
          allocator.free(holder.table[i]);
        }
      }
      cache.unlock(holder.node);
      model.unlock(holder.tokens, holder.locked);
    }

    private void evict(int count) {
      List<Integer> expected = model.evict(count);
      int before = allocator.free();
      assertThat(cache.evict(count)).isEqualTo(expected.size());
      assertThat(allocator.free()).isEqualTo(before + expected.size());
      for (int page : expected) {
        assertThat(allocator.agrees(page, false, false)).isTrue();
      }
    }

    private void check() {
      assertThat(cache.evictablePages()).isEqualTo(model.evictable());
      assertThat(cache.evictablePages() + cache.protectedPages()).isEqualTo(model.size());
      assertThat(allocator.free() + model.size() + allocator.inFlight()).isEqualTo(POOL);
      assertThat(audit.countersAgree()).isTrue();
      assertThat(
              audit.repair(
                  visitor ->
                      holders.forEach(
                          holder ->
                              IntStream.range(0, holder.pages)
                                  .forEach(i -> visitor.accept(holder.table[i])))))
          .isZero();
    }
  }

  @Property(tries = 400)
  void theTreeHoldsWhatAMapOfPrefixesHolds(
      @ForAll("operations") Tuple.Tuple2<Integer, List<Operation>> run) {
    World world = new World(run.get1());
    run.get2().forEach(world::apply);
    while (!world.holders.isEmpty()) {
      world.finish(0);
      world.check();
    }
    world.evict(POOL);
    assertThat(world.allocator.free()).isEqualTo(POOL);
    assertThat(world.cache.nodes()).isZero();
  }

  @Provide
  Arbitrary<Tuple.Tuple2<Integer, List<Operation>>> operations() {
    return Arbitraries.of(1, 2, 4)
        .flatMap(
            pageTokens -> {
              Arbitrary<int[]> tokens =
                  Arbitraries.integers().between(0, 1).array(int[].class).ofMaxSize(9 * pageTokens);
              Arbitrary<Operation> operation =
                  Combinators.combine(
                          Arbitraries.of(Kind.class), tokens, Arbitraries.integers().between(0, 12))
                      .as(Operation::new);
              return operation
                  .list()
                  .ofMaxSize(120)
                  .map(operations -> Tuple.of(pageTokens, operations));
            });
  }
}
