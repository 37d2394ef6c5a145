package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.sun.management.ThreadMXBean;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.protocol.record.kv.KvEvent;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Trees of a million pages, and paths of 100,000 nodes: done on a stack that no recursion over them
 * fits on, and in work that is counted (look-ups, calls of the policy, bytes allocated) and grows
 * with the pages, not with their square.
 */
class DeepTreesTest {
  private static final int MILLION = 1_000_000;
  private static final int DEPTH = 100_000;
  private static final int SMALL_STACK = 256 << 10;

  /** Tokens that a request computes at once. */
  private static final int CHUNK = 8192;

  /** A tree, what is asked of its policy and its hash, and a consumer of its events. */
  private static final class World {
    final PageAllocator allocator;
    final CountingHash hash = new CountingHash();
    final CountingPolicy policy;
    final RadixCache cache;
    long stored;
    long removed;
    long cleared;

    World(int pool, String policyName) {
      allocator = new PageAllocator(pool, page -> {});
      policy = new CountingPolicy(EvictionPolicies.of(policyName, pool, 1));
      cache = new RadixCache(PrefixCaching.RADIX, allocator, 1, policy, hash);
    }

    World listening() {
      cache.listen(this::hear, false);
      return this;
    }

    private void hear(KvEvent event) {
      if (event instanceof KvEvent.Stored) {
        stored++;
      } else if (event instanceof KvEvent.Removed some) {
        removed += some.blocks().length;
      } else {
        cleared++;
      }
    }

    /** A request for a key of which everything but the last tokens is cached; returns its end. */
    TreeNode turn(RadixKey key, TreeNode resume, int known) {
      PrefixMatch match = cache.match(key, Integer.MAX_VALUE, resume, known);
      TreeNode locked = cache.lock(key, match);
      int[] table = new int[key.length()];
      for (int i = match.pages(); i < key.length(); i++) {
        table[i] = allocator.allocate();
      }
      TreeNode end = cache.insert(locked, key, match.pages(), key.length(), table, true).node();
      cache.unlock(end);
      return end;
    }

    /** Stores a long prompt chunk by chunk; returns its end. */
    TreeNode chunkedTurn(RadixKey key) {
      TreeNode node = cache.lock(key, cache.match(key, Integer.MAX_VALUE));
      int[] table = new int[key.length()];
      for (int from = 0; from < key.length(); from += CHUNK) {
        int to = Math.min(key.length(), from + CHUNK);
        for (int i = from; i < to; i++) {
          table[i] = allocator.allocate();
        }
        node = cache.insert(node, key, from, to, table, true).node();
      }
      cache.unlock(node);
      return node;
    }

    int matched(RadixKey key) {
      return cache.match(key, Integer.MAX_VALUE).pages();
    }

    void check() {
      assertThat(PageAudit.repair(allocator, cache, tables -> {}, sessions -> {})).isZero();
    }
  }

  private static final class CountingHash extends ChildHash {
    long count;

    CountingHash() {
      super(1, 1);
    }

    @Override
    int of(String namespace, int[] tokens, int from) {
      count++;
      return super.of(namespace, tokens, from);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"lru", "adaptive"})
  void aMillionLeaves(String policy) {
    onASmallStack(
        () -> {
          World world = new World(MILLION, policy).listening();
          for (int i = 0; i < MILLION; i++) {
            world.turn(RadixKey.of(i), null, 0);
          }
          assertThat(world.cache.nodes()).isEqualTo(MILLION);
          assertThat(world.stored).isEqualTo(MILLION);
          assertThat(world.hash.count).as("look-ups").isLessThanOrEqualTo(3L * MILLION);
          for (int i = 0; i < MILLION; i += 1000) {
            assertThat(world.matched(RadixKey.of(i))).isOne();
          }
          TreeNode locked = world.cache.lock(RadixKey.of(7), world.cache.match(RadixKey.of(7), 1));
          world.check();

          long lookUps = world.hash.count;
          assertThat(world.cache.evict(MILLION)).isEqualTo(MILLION - 1);
          assertThat(world.removed).isEqualTo(MILLION - 1);
          assertThat(world.matched(RadixKey.of(7))).isOne();
          world.cache.unlock(locked);
          world.cache.reset();

          assertThat(world.cleared).isOne();
          assertThat(world.cache.nodes()).isZero();
          assertThat(world.allocator.free()).isEqualTo(MILLION);
          assertThat(world.hash.count - lookUps).as("look-ups to evict").isLessThan(3);
          assertThat(world.policy.calls).as("calls").isLessThanOrEqualTo(6L * MILLION);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"lru", "adaptive"})
  void aKeyOfAMillionTokens(String policy) {
    onASmallStack(
        () -> {
          World world = new World(MILLION + 1, policy).listening();
          int[] tokens = IntStream.range(0, MILLION + 1).toArray();
          RadixKey key = new RadixKey("", tokens, MILLION);

          long before = allocated();
          TreeNode end = world.chunkedTurn(key);

          assertThat(world.cache.nodes()).isOne();
          assertThat(world.matched(key)).isEqualTo(MILLION);
          RadixKey next = new RadixKey("", tokens, MILLION + 1);
          assertThat(world.turn(next, end, MILLION).endPage()).isEqualTo(MILLION + 1);
          for (int i = 1; i < 10; i++) {
            RadixKey part = new RadixKey("", tokens, MILLION / 10 * i);
            TreeNode locked = world.cache.lock(part, world.cache.match(part, Integer.MAX_VALUE));
            assertThat(world.cache.protectedPages()).isEqualTo(part.length());
            world.cache.unlock(locked);
          }
          assertThat(world.cache.content()).hasSize(MILLION + 1);
          world.check();
          assertThat(allocated() - before).as("bytes").isLessThan(1_500L * MILLION);

          before = allocated();
          while (world.cache.evict(1) > 0) {
            assertThat(world.cache.evictablePages()).isEqualTo(world.allocator.cached());
          }
          assertThat(allocated() - before).as("bytes to evict").isLessThan(1_000L * MILLION);
          assertThat(world.removed).isEqualTo(MILLION + 1);
          assertThat(world.cache.nodes()).isZero();
          assertThat(world.hash.count).as("look-ups").isLessThan(1000);
        });
  }

  /** Each turn leaves the longest prefix one token earlier, so the path has a node for each. */
  @ParameterizedTest
  @ValueSource(strings = {"lru", "priority"})
  void aPathOfAHundredThousandForks(String policy) {
    onASmallStack(
        () -> {
          World world = new World(2 * DEPTH, policy).listening();
          int[] tokens = IntStream.range(0, DEPTH + 1).toArray();
          RadixKey path = new RadixKey("", tokens, DEPTH);
          TreeNode end = world.chunkedTurn(path);
          long before = allocated();
          int[] table = new int[DEPTH];
          for (int at = DEPTH - 1; at > 0; at--) {
            end = forkAt(world, tokens, at, end, table);
          }
          assertThat(world.cache.nodes()).isEqualTo(2 * DEPTH - 1);
          assertThat(allocated() - before).as("bytes to fork").isLessThan(10_000L * DEPTH);
          assertThat(world.hash.count).as("look-ups to fork").isLessThan(6L * DEPTH);

          long lookUps = world.hash.count;
          PrefixMatch match = world.cache.match(path, Integer.MAX_VALUE);
          assertThat(match.pages()).isEqualTo(DEPTH);
          assertThat(world.hash.count - lookUps).as("look-ups").isEqualTo(DEPTH);
          end = world.cache.lock(path, match);
          assertThat(world.cache.protectedPages()).isEqualTo(DEPTH);
          assertThat(world.cache.pagesLockedOnce(end)).isEqualTo(DEPTH);
          world.check();
          assertThat(world.cache.match(path, Integer.MAX_VALUE, end, DEPTH)).isEqualTo(match);
          assertThat(world.hash.count - lookUps).as("look-ups, resumed").isEqualTo(DEPTH);
          world.cache.unlock(end);

          List<KvEvent.Stored> content = world.cache.content();
          assertThat(content).hasSize(2 * DEPTH - 1);
          before = allocated();
          assertThat(world.cache.evict(DEPTH - 1)).isEqualTo(DEPTH - 1);
          assertThat(world.matched(path)).isEqualTo(DEPTH);
          assertThat(world.cache.nodes()).as("forks that are undone").isLessThan(DEPTH / 30);
          assertThat(allocated() - before).as("bytes to merge").isLessThan(20_000L * DEPTH);
          world.check();

          assertThat(world.cache.match(path, DEPTH, end, DEPTH).pages()).isEqualTo(DEPTH);
          world.turn(path, end, DEPTH);
          world.cache.reset();
          assertThat(world.cache.nodes()).isZero();
          assertThat(world.allocator.free()).isEqualTo(2 * DEPTH);
          assertThat(world.policy.calls).as("calls").isLessThan(20L * DEPTH);
        });
  }

  /** Leaves the path for another token; returns the node of the path that it was left at. */
  private static TreeNode forkAt(World world, int[] tokens, int at, TreeNode end, int[] table) {
    int token = tokens[at];
    tokens[at] = -1;
    RadixKey fork = new RadixKey("", tokens, at + 1);
    PrefixMatch match = world.cache.match(fork, Integer.MAX_VALUE, end, at);
    assertThat(match.pages()).isEqualTo(at);
    TreeNode locked = world.cache.lock(fork, match);
    table[at] = world.allocator.allocate();
    world.cache.unlock(world.cache.insert(locked, fork, at, at + 1, table, true).node());
    tokens[at] = token;
    return locked;
  }

  /** Nodes of one path that differ, so that nothing merges them, without a fork. */
  @Test
  void aChainOfAHundredThousandPriorities() {
    onASmallStack(
        () -> {
          World world = new World(DEPTH, "priority");
          int[] tokens = IntStream.range(0, DEPTH).toArray();
          RadixKey key = RadixKey.of(tokens);
          int[] table = new int[DEPTH];
          TreeNode node = world.cache.lock(key, world.cache.match(key, DEPTH));
          for (int i = 0; i < DEPTH; i++) {
            table[i] = world.allocator.allocate();
            node = world.cache.insert(node, key, i, i + 1, table, true, DEPTH - i).node();
          }
          world.cache.unlock(node);
          assertThat(world.cache.nodes()).isEqualTo(DEPTH);

          TreeNode end = world.cache.lock(key, world.cache.match(key, DEPTH));
          world.cache.retain(end, DEPTH / 2, DEPTH, DEPTH, 10);
          world.cache.unlock(end);
          world.cache.expire(10);
          world.check();
          int[] copied = new int[DEPTH];
          world.cache.copyPages(end, DEPTH, copied);
          assertThat(copied).isEqualTo(table);
          assertThat(world.cache.freeEnd(end, DEPTH, DEPTH / 2)).isEqualTo(DEPTH / 2);
          assertThat(world.matched(key)).isEqualTo(DEPTH / 2);
          assertThat(world.cache.match(key, DEPTH, end, DEPTH).pages()).isEqualTo(DEPTH / 2);
          assertThat(world.cache.evict(DEPTH)).isEqualTo(DEPTH / 2);
          assertThat(world.policy.calls).as("calls").isLessThan(20L * DEPTH);
        });
  }

  private static long allocated() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private static void onASmallStack(ThrowingCallable test) {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Runnable body =
        () -> {
          try {
            test.call();
          } catch (Throwable e) {
            thrown.set(e);
          }
        };
    Thread thread = new Thread(null, body, "small stack", SMALL_STACK);
    thread.start();
    assertThatCode(thread::join).doesNotThrowAnyException();
    if (thrown.get() != null) {
      throw new AssertionError(thrown.get().getMessage(), thrown.get());
    }
  }
}
