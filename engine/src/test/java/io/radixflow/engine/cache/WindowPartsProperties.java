package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Window parts against a model of sets and queues, operation by operation. */
class WindowPartsProperties {
  private static final int PAGES = 12;

  enum Kind {
    ATTACH,
    UNLOCK_INTERIOR,
    UNLOCK_END,
    FREE,
    REPLACE,
    PIN,
    UNPIN
  }

  record Operation(Kind kind, int page, int other) {}

  /** Models what the parts should be, in the plainest way. */
  private static final class Model {
    final int parts;
    final Map<Integer, Integer> locks = new HashMap<>();
    final Deque<Integer> interior = new ArrayDeque<>();
    final Deque<Integer> ends = new ArrayDeque<>();
    final Deque<Integer> pinned = new ArrayDeque<>();
    final Map<Integer, Integer> pins = new HashMap<>();

    Model(int parts) {
      this.parts = parts;
    }

    Set<Integer> pages() {
      Set<Integer> all = new HashSet<>(locks.keySet());
      all.addAll(interior);
      all.addAll(ends);
      all.addAll(pinned);
      return all;
    }

    boolean attach(int page) {
      if (!pages().contains(page) && pages().size() == parts) {
        if (interior.poll() == null && ends.poll() == null && pinned.poll() == null) {
          return false;
        }
      }
      forget(page);
      locks.merge(page, 1, Integer::sum);
      return true;
    }

    void forget(int page) {
      interior.remove(page);
      ends.remove(page);
      pinned.remove(page);
    }

    void keep(int page, Deque<Integer> unlessPinned) {
      (pins.getOrDefault(page, 0) > 0 ? pinned : unlessPinned).add(page);
    }

    void pin(int page, int change) {
      int before = pins.getOrDefault(page, 0);
      pins.put(page, before + change);
      boolean moves = before == 0 || before + change == 0;
      if (moves && pages().contains(page) && !locks.containsKey(page)) {
        forget(page);
        keep(page, ends);
      }
    }

    void unlock(int page, boolean end) {
      if (locks.merge(page, -1, Integer::sum) == 0) {
        locks.remove(page);
        keep(page, end ? ends : interior);
      }
    }

    void replaced(int page, int by) {
      if (!pages().contains(page)) {
        return;
      }
      boolean had = pages().contains(by);
      Integer held = locks.remove(page);
      if (held != null) {
        forget(by);
        locks.merge(by, held, Integer::sum);
      } else if (!had) {
        keep(by, ends);
      }
      forget(page);
    }
  }

  @Property(tries = 2000)
  void aPageHasItsPartAsLongAsNothingMoreUsefulTakesIt(
      @ForAll @IntRange(min = 1, max = 8) int parts,
      @ForAll("operations") List<Operation> operations) {
    int[] mapped = new int[PAGES];
    Arrays.fill(mapped, -1);
    Set<Integer> freed = new HashSet<>();
    WindowParts tested =
        new WindowParts(4, 2, PAGES, parts, (page, part) -> mapped[page] = part, freed::add);
    Model model = new Model(parts);
    for (Operation operation : operations) {
      long version = tested.version();
      Set<Integer> before = model.pages();
      apply(operation, tested, model);
      if (!model.pages().containsAll(before) && operation.kind == Kind.ATTACH) {
        assertThat(tested.version()).as("kept matches are void").isNotEqualTo(version);
      }
      check(tested, model, mapped);
    }
  }

  private static void apply(Operation operation, WindowParts tested, Model model) {
    int page = operation.page;
    int other = operation.other;
    boolean locked = model.locks.containsKey(page);
    switch (operation.kind) {
      case ATTACH -> assertThat(tested.attach(page)).isEqualTo(model.attach(page));
      case UNLOCK_INTERIOR, UNLOCK_END -> {
        if (locked) {
          boolean end = operation.kind == Kind.UNLOCK_END;
          tested.unlock(page, end);
          model.unlock(page, end);
        }
      }
      case PIN -> {
        tested.pin(page);
        model.pin(page, 1);
      }
      case UNPIN -> {
        if (model.pins.getOrDefault(page, 0) > 0) {
          tested.unpin(page);
          model.pin(page, -1);
        }
      }
      case FREE -> {
        if (!locked) {
          tested.pageFreed(page);
          model.forget(page);
        }
      }
      case REPLACE -> {
        if (page != other && model.locks.getOrDefault(page, 0) <= 1) {
          tested.replaced(page, other);
          tested.pageFreed(page);
          model.replaced(page, other);
        }
      }
    }
  }

  private static void check(WindowParts tested, Model model, int[] mapped) {
    Set<Integer> parts = new HashSet<>();
    int[] held = new int[PAGES];
    boolean[] inUse = new boolean[PAGES];
    Arrays.fill(inUse, true);
    for (int page = 0; page < PAGES; page++) {
      assertThat(tested.has(page)).isEqualTo(model.pages().contains(page));
      assertThat(mapped[page] >= 0).isEqualTo(tested.has(page));
      assertThat(mapped[page] < 0 || parts.add(mapped[page])).as("one page a part").isTrue();
      held[page] = model.locks.getOrDefault(page, 0);
    }
    assertThat(parts).allMatch(part -> part < model.parts);
    assertThat(tested.free()).isEqualTo(model.parts - parts.size());
    assertThat(tested.locked()).isEqualTo(model.locks.size());
    assertThat(tested.repair(held, inUse)).as("nothing to repair").isZero();
  }

  /** The tree has a path of nodes of several pages, of which some have parts. */
  @Property(tries = 1000)
  void aPrefixIsUsableIfItsLastPagesHaveParts(
      @ForAll @IntRange(min = 1, max = 9) int window,
      @ForAll @IntRange(min = 0, max = 10) int length,
      @ForAll Set<@IntRange(min = 0, max = 9) Integer> with,
      @ForAll Set<@IntRange(min = 1, max = 9) Integer> splits) {
    int pageTokens = 2;
    PageAllocator allocator = new PageAllocator(PAGES, pageTokens, page -> {});
    RadixCache cache =
        new RadixCache(allocator, pageTokens, EvictionPolicies.of("lru", PAGES, 1), 7);
    int[] tokens = IntStream.range(0, 20).toArray();
    RadixKey key = new RadixKey("", tokens, tokens.length);
    int[] table = new int[10];
    allocator.allocExtend(table, 0, tokens.length);
    TreeNode locked = cache.lock(key, cache.match(key, 10));
    cache.unlock(cache.insert(locked, key, 0, 10, table, true).node());
    splits.forEach(at -> cache.unlock(cache.lock(key, cache.match(key, at)), false));
    List<TreeNode> held = splits.stream().map(at -> cache.lock(key, cache.match(key, at))).toList();
    WindowParts parts =
        new WindowParts(window, pageTokens, PAGES, PAGES, (page, part) -> {}, part -> {});
    with.forEach(index -> parts.attach(table[index]));

    PrefixMatch usable = parts.usable(cache.match(key, length));

    int wanted = length;
    while (!hasParts(wanted, window, pageTokens, with)) {
      wanted--;
    }
    assertThat(usable.pages()).isEqualTo(wanted);
    TreeNode node = cache.lock(key, usable);
    int[] path = new int[wanted];
    cache.copyPages(node, wanted, path);
    assertThat(path).isEqualTo(Arrays.copyOf(table, wanted));
    assertThat(node.endPage()).isEqualTo(wanted);
    cache.unlock(node, false);
    held.forEach(cache::unlock);
  }

  /** Returns whether a query of the last token, or of the one after it, finds all that it sees. */
  private static boolean hasParts(int pages, int window, int pageTokens, Set<Integer> with) {
    int first = Math.max(0, pages * pageTokens - window) / pageTokens;
    return IntStream.range(first, pages).allMatch(with::contains);
  }

  @Test
  void whatIsWrongIsRepaired() {
    WindowParts parts = new WindowParts(4, 2, PAGES, 4, (page, part) -> {}, part -> {});
    parts.attach(1);
    parts.attach(2);
    parts.attach(3);
    parts.unlock(3, true);
    int[] held = new int[PAGES];
    held[1] = 1;
    boolean[] inUse = new boolean[PAGES];
    inUse[1] = true;
    inUse[2] = true;
    assertThat(parts.repair(held, inUse)).as("a lock of page 2, the part of page 3").isPositive();
    assertThat(parts.repair(held, inUse)).isZero();
    assertThat(parts.locked()).isEqualTo(1);
    assertThat(parts.free()).isEqualTo(2);
    assertThat(parts.has(3)).isFalse();
  }

  @Provide
  Arbitrary<List<Operation>> operations() {
    return Combinators.combine(
            Arbitraries.of(Kind.class),
            Arbitraries.integers().between(0, PAGES - 1),
            Arbitraries.integers().between(0, PAGES - 1))
        .as(Operation::new)
        .list()
        .ofMaxSize(60);
  }
}
