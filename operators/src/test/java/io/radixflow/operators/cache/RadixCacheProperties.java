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
    PUT_BACK,
    RESUME,
    FREE_END,
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

  /** What a session keeps of an earlier turn: a node that may have left the tree since. */
  private record Remembered(int[] tokens, TreeNode node, int pages) {}

  /** Tree, model and the requests that use both. */
  private static final class World {
    final PageShape shape;
    final PageAllocator allocator = new PageAllocator(POOL, page -> {});
    final RadixCache cache;
    final PageMap model;
    final PageAudit audit;
    final List<Holder> holders = new ArrayList<>();
    final List<Remembered> sessions = new ArrayList<>();

    World(Kindred of) {
      shape = new PageShape(of.pageTokens, of.bigram ? 1 : 0);
      EvictionPolicy policy = EvictionPolicies.of(of.policy, POOL, 1);
      cache = new RadixCache(allocator, of.pageTokens, of.bigram, policy);
      model = new PageMap(shape, of.policy);
      audit = new PageAudit(allocator, cache);
    }

    private RadixKey key(int[] tokens) {
      return new RadixKey("", tokens, tokens.length, shape.overlap() == 1);
    }

    void apply(Operation operation) {
      switch (operation.kind) {
        case MATCH -> match(operation.tokens);
        case START -> start(operation.tokens);
        case EXTEND -> extend(operation.number, true);
        case EXTEND_WITHOUT_REDIRECT -> extend(operation.number, false);
        case FINISH -> finish(operation.number, true);
        case PUT_BACK -> finish(operation.number, false);
        case RESUME -> resume(operation.tokens, operation.number);
        case FREE_END -> freeEnd(operation.number);
        case EVICT -> evict(operation.number);
      }
      check();
    }

    private PrefixMatch match(int[] tokens) {
      int nodes = cache.nodes();
      PrefixMatch match = cache.match(key(tokens), Integer.MAX_VALUE);
      assertThat(match.pages()).isEqualTo(model.match(tokens).size());
      assertThat(cache.nodes()).isEqualTo(nodes);
      return match;
    }

    private void start(int[] tokens) {
      Holder holder = new Holder();
      holder.tokens = tokens;
      PrefixMatch match = match(tokens);
      holder.node = cache.lock(key(tokens), match);
      model.lock(tokens, 0, match.pages());
      int all = key(tokens).pages(shape.pageTokens());
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
      int priority = number % 3;
      List<Integer> cached = model.match(holder.tokens);
      PrefixMatch end =
          cache.insert(
              holder.node, key(holder.tokens), holder.locked, to, holder.table, redirect, priority);
      model.tick();
      assertThat(end.pages()).isLessThanOrEqualTo(Math.max(to, holder.locked));
      for (int i = holder.locked; i < end.pages(); i++) {
        if (i < cached.size()) {
          assertThat(holder.table[i]).isEqualTo(cached.get(i));
        } else {
          model.add(holder.tokens, i, holder.table[i], priority);
        }
      }
      boolean duplicates = cached.size() > holder.locked;
      assertThat(end.pages())
          .isEqualTo(duplicates && !redirect ? holder.locked : Math.max(to, holder.locked));
      model.lock(holder.tokens, holder.locked, end.pages());
      model.raise(holder.tokens, end.pages(), priority);
      holder.locked = end.pages();
      holder.node = end.node();
    }

    /** A later turn has the tokens of an earlier one and others after them. */
    private void resume(int[] more, int number) {
      if (sessions.isEmpty()) {
        return;
      }
      Remembered session = sessions.get(number % sessions.size());
      int[] tokens = Arrays.copyOf(session.tokens, session.tokens.length + more.length);
      System.arraycopy(more, 0, tokens, session.tokens.length, more.length);
      int limit = number > 9 ? number : Integer.MAX_VALUE;
      PrefixMatch resumed = cache.match(key(tokens), limit, session.node, session.pages);
      assertThat(resumed).isEqualTo(cache.match(key(tokens), limit));
    }

    /** A session's end is freed as far as it can be, never what others hold or extend. */
    private void freeEnd(int number) {
      if (sessions.isEmpty()) {
        return;
      }
      Remembered session = sessions.get(number % sessions.size());
      int cached = Math.min(session.pages, model.match(session.tokens).size());
      int freed = cache.freeEnd(session.node, session.pages, number % 3);
      assertThat(freed).isLessThanOrEqualTo(Math.max(0, cached - number % 3));
      for (int i = 0; i < freed; i++) {
        int page = model.removeFree(session.tokens, cached - i);
        assertThat(allocator.agrees(page, false, false, false)).isTrue();
      }
    }

    private void finish(int number, boolean hit) {
      if (holders.isEmpty()) {
        return;
      }
      Holder holder = holders.remove(number % holders.size());
      for (int i = 0; i < holder.pages; i++) {
        if (allocator.isInFlight(holder.table[i])) {
          allocator.free(holder.table[i]);
        }
      }
      sessions.add(new Remembered(holder.tokens, holder.node, holder.locked));
      cache.unlock(holder.node, hit);
      model.unlock(holder.tokens, holder.locked, hit);
    }

    private void evict(int count) {
      List<Integer> expected = model.evict(count);
      int before = allocator.free();
      assertThat(cache.evict(count)).isEqualTo(expected.size());
      assertThat(allocator.free()).isEqualTo(before + expected.size());
      for (int page : expected) {
        assertThat(allocator.agrees(page, false, false, false)).isTrue();
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

  /** What all caches of a run have in common. */
  record Kindred(int pageTokens, boolean bigram, String policy) {}

  @Property(tries = 1500)
  void theTreeHoldsWhatAMapOfPrefixesHolds(
      @ForAll("operations") Tuple.Tuple2<Kindred, List<Operation>> run) {
    World world = new World(run.get1());
    run.get2().forEach(world::apply);
    while (!world.holders.isEmpty()) {
      world.finish(0, true);
      world.check();
    }
    world.evict(POOL);
    assertThat(world.allocator.free()).isEqualTo(POOL);
    assertThat(world.cache.nodes()).isZero();
  }

  @Provide
  Arbitrary<Tuple.Tuple2<Kindred, List<Operation>>> operations() {
    Arbitrary<Kindred> kindreds =
        Combinators.combine(
                Arbitraries.of(1, 2, 4),
                Arbitraries.of(false, false, true),
                Arbitraries.of("lru", "lfu", "fifo", "mru", "filo", "slru", "priority"))
            .as(Kindred::new);
    return kindreds.flatMap(
        kindred -> {
          Arbitrary<int[]> tokens =
              Arbitraries.integers()
                  .between(0, 1)
                  .array(int[].class)
                  .ofMaxSize(9 * kindred.pageTokens);
          Arbitrary<Operation> operation =
              Combinators.combine(
                      Arbitraries.of(Kind.class), tokens, Arbitraries.integers().between(0, 12))
                  .as(Operation::new);
          return operation.list().ofMaxSize(120).map(operations -> Tuple.of(kindred, operations));
        });
  }
}
