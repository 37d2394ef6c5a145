package io.radixflow.engine.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PrefixMatch;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.TierPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterTry;

/**
 * A radix tree over the device's pages and the tiers that follow it, without an engine: SGLang's
 * cases U29, U30, U35 and U36, as far as they are about more than the states of its tree nodes. A
 * page of its device-leaf set is one that the tree may evict here; one of its host-leaf set is one
 * that the host has alone and may evict.
 */
class DeviceAndHostProperties {
  private static final int DEVICE_PAGES = 12;
  private static final int HOST_PAGES = 64;
  private static final int LENGTH = 6;

  /** Page size 1: a token is a page. Each two keys begin alike. */
  private static final List<RadixKey> KEYS =
      IntStream.range(0, 6)
          .mapToObj(i -> IntStream.range(0, LENGTH).map(t -> t < 3 ? t + 50 * (i / 2) : 9 * i + t))
          .map(tokens -> RadixKey.of(tokens.toArray()))
          .toList();

  private final List<HiRadixCache> opened = new ArrayList<>();

  /** The device's tree, what follows it, and the engine's tasks, done when the test says so. */
  private final class World {
    final PageAllocator allocator = new PageAllocator(DEVICE_PAGES, 1, page -> {});
    final RadixCache cache = new RadixCache(allocator, 1, EvictionPolicies.of("lru", 1, 1), 0);
    final LinkedBlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    final HiRadixCache tiers;

    World(WritePolicy policy, int hostPages) {
      TierOptions options =
          TierOptions.NONE
              .withHostBytes(hostPages * InstantPool.PAGE_BYTES)
              .withWritePolicy(policy);
      tiers =
          new HiRadixCache(
              new InstantPool(DEVICE_PAGES), options, null, tasks::add, System::nanoTime);
      opened.add(tiers);
      tiers.attach(cache, allocator);
    }

    /** A request comes and goes that has the first pages of a key; returns whether it had room. */
    boolean use(RadixKey key, int pages) {
      PrefixMatch match = cache.match(key, pages);
      TreeNode locked = cache.lock(key, match);
      int missing = pages - match.pages();
      cache.evict(Math.max(0, missing - allocator.free()));
      boolean room = allocator.free() >= missing;
      if (room) {
        int[] table = new int[LENGTH];
        cache.copyPages(locked, match.pages(), table);
        allocator.allocExtend(table, match.pages(), pages);
        locked = cache.insert(locked, key, match.pages(), pages, table, true, 0).node();
        tiers.used(locked);
      }
      cache.unlock(locked, true);
      return room;
    }

    /** Waits until no page is on its way. */
    void settle() throws InterruptedException {
      while (tiers.isMoving() || tiers.stats().queuedPages() > 0) {
        tiers.poll();
        Runnable task = tasks.poll(1, TimeUnit.MILLISECONDS);
        if (task != null) {
          task.run();
        }
      }
    }

    int onDevice(RadixKey key) {
      return cache.match(key, LENGTH).pages();
    }

    /** Returns the pages of a key that the host has, whether or not those before them are there. */
    List<Integer> onHost(RadixKey key) {
      PageChain chain = PageChain.of(key, 1, 0);
      return IntStream.range(0, LENGTH)
          .filter(i -> tiers.host().get(chain.id(i)) != null)
          .boxed()
          .toList();
    }

    /** Each page of the host is known to be on the device exactly if the tree has it. */
    void check() {
      assertThat(tiers.audit()).as("each leaf is of the host or of both").isTrue();
      assertThat(cache.recount()).isTrue();
      for (RadixKey key : KEYS) {
        PageChain chain = PageChain.of(key, 1, 0);
        for (int i : onHost(key)) {
          assertThat(tiers.host().get(chain.id(i)).onDevice).isEqualTo(i < onDevice(key));
        }
      }
    }
  }

  @AfterTry
  void close() {
    opened.forEach(HiRadixCache::close);
    opened.clear();
  }

  /** U29: without room on the host. The device's page goes all the same: its room is needed. */
  @Example
  void aPageThatDoesNotFitHostMemoryIsDroppedAndCounted() throws InterruptedException {
    World world = new World(WritePolicy.WRITE_BACK, HOST_PAGES);
    world.use(KEYS.get(0), 4);
    world.tiers.switches().holdHost(true);
    assertThat(world.cache.evict(2)).isEqualTo(2);
    world.settle();
    assertThat(world.onDevice(KEYS.get(0))).isEqualTo(2);
    assertThat(world.onHost(KEYS.get(0))).isEmpty();
    assertThat(world.tiers.stats().droppedBackups()).isEqualTo(2);
    assertThat(world.allocator.free()).isEqualTo(DEVICE_PAGES - 2);
    world.check();
  }

  /** U30: what was a leaf of both is one of the host alone, and goes for pages that need it. */
  @Example
  void aPageThatIsEvictedAfterItsCopyIsOneThatTheHostMayEvict() throws InterruptedException {
    World world = new World(WritePolicy.WRITE_THROUGH, 4);
    RadixKey key = KEYS.get(0);
    PageChain chain = PageChain.of(key, 1, 0);
    world.use(key, 4);
    world.settle();
    HostPage leaf = world.tiers.host().get(chain.id(3));
    assertThat(world.cache.evictablePages()).isEqualTo(4);
    assertThat(leaf.onDevice).isTrue();

    assertThat(world.cache.evict(1)).isOne();
    assertThat(world.onDevice(key)).isEqualTo(3);
    assertThat(leaf.onDevice).isFalse();
    world.check();
    TierPage other = PageChain.of(KEYS.get(4), 1, 0).page(0);
    assertThat(world.tiers.host().allocate(other, false)).as("no other page is free").isNull();
    HostPage taken = world.tiers.host().allocate(other, true);
    assertThat(taken).isNotNull();
    assertThat(world.onHost(key)).containsExactly(0, 1, 2);
    world.tiers.host().remove(taken);
    world.tiers.host().unlock(taken);
  }

  /** U35. */
  @Example
  void aPageIsWrittenBackWithoutTheOneBeforeItThatIsInUse() throws InterruptedException {
    World world = new World(WritePolicy.WRITE_BACK, HOST_PAGES);
    RadixKey key = KEYS.get(0);
    world.use(key, 4);
    TreeNode locked = world.cache.lock(key, world.cache.match(key, 2));
    assertThat(world.cache.evict(DEVICE_PAGES)).isEqualTo(2);
    world.settle();
    assertThat(world.onHost(key)).containsExactly(2, 3);
    assertThat(world.onDevice(key)).isEqualTo(2);
    world.check();
    world.cache.unlock(locked, true);
  }

  /** U36. */
  @Property(tries = 100)
  void noPageIsAtOnceOneThatTheTreeMayEvictAndOneThatTheHostHasAlone(
      @ForAll WritePolicy policy,
      @ForAll @IntRange(min = 1, max = 20) int hostPages,
      @ForAll long seed)
      throws InterruptedException {
    Random random = new Random(seed);
    World world = new World(policy, hostPages);
    for (int i = 0; i < 60; i++) {
      RadixKey key = KEYS.get(random.nextInt(KEYS.size()));
      switch (random.nextInt(6)) {
        case 0, 1, 2 -> world.use(key, 1 + random.nextInt(LENGTH));
        case 3 -> world.cache.evict(1 + random.nextInt(4));
        case 4 -> world.tiers.poll();
        default -> world.settle();
      }
      world.check();
    }
    world.settle();
    world.check();
    assertThat(world.allocator.free() + world.cache.evictablePages()).isEqualTo(DEVICE_PAGES);
  }
}
