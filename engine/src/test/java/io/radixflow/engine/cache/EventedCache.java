package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A cache whose events are gathered, and applied as a consumer of them would. */
final class EventedCache {
  final PageAllocator allocator;
  final RadixCache cache;
  final List<KvEvent> events = new ArrayList<>();
  final Map<Long, KvEvent.Stored> view = new HashMap<>();

  EventedCache(int pages, int pageTokens, EvictionPolicy policy) {
    allocator = new PageAllocator(pages, page -> {});
    cache = new RadixCache(allocator, pageTokens, policy, 1);
    cache.listen(this::hear, true);
  }

  EventedCache(int pageTokens) {
    this(1024, pageTokens, EvictionPolicies.of("lru", 1, 1));
  }

  private void hear(KvEvent event) {
    events.add(event);
    if (event instanceof KvEvent.Stored stored) {
      if (stored.parent() != null && !view.containsKey(stored.parent())) {
        throw new AssertionError("stored before its parent: " + stored);
      }
      if (view.put(stored.block(), stored) != null) {
        throw new AssertionError("stored twice: " + stored);
      }
    } else if (event instanceof KvEvent.Removed removed) {
      for (long block : removed.blocks()) {
        if (view.remove(block) == null) {
          throw new AssertionError("removed and not there: " + block);
        }
      }
    } else {
      view.clear();
    }
  }

  /** Caches what the pool has room for of a key's pages, as a request does that starts and ends. */
  void insert(RadixKey key) {
    cache.unlock(hold(key));
  }

  /** Does as {@link #insert}, but the request goes on. */
  TreeNode hold(RadixKey key) {
    int pages = key.pages(cache.pageTokens());
    PrefixMatch match = cache.match(key, pages);
    TreeNode locked = cache.lock(key, match);
    int[] table = new int[pages];
    cache.copyPages(locked, match.pages(), table);
    int end = match.pages();
    while (end < pages && allocator.free() > 0) {
      table[end++] = allocator.allocate();
    }
    return cache.insert(locked, key, match.pages(), end, table, true).node();
  }

  int matched(RadixKey key) {
    return cache.match(key, Integer.MAX_VALUE).pages();
  }

  /** Returns the events since the last call. */
  List<KvEvent> take() {
    List<KvEvent> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  /** Does as {@link #take}, if all of them are of one kind. */
  <T extends KvEvent> List<T> take(Class<T> kind) {
    return take().stream().map(kind::cast).toList();
  }
}
