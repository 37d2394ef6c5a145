package io.radixflow.engine.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests what a tree tells the owner of the parts of its pages. */
class CacheComponentTest {
  private final PageAllocator allocator = new PageAllocator(8, page -> {});
  private final RadixCache cache =
      new RadixCache(allocator, 1, EvictionPolicies.of("lru", 8, 1), 0);
  private final RadixKey key = new RadixKey("", new int[] {1, 2}, 2);
  private final Noted parts = new Noted();

  /** Notes which page takes over from which. */
  private static final class Noted implements CacheComponent {
    final List<String> replaced = new ArrayList<>();
    long version;

    @Override
    public long version() {
      return version;
    }

    @Override
    public void replaced(int page, int by) {
      replaced.add(page + " by " + by);
    }
  }

  private int[] insert() {
    int[] table = {allocator.allocate(), allocator.allocate()};
    TreeNode locked = cache.lock(key, cache.match(key, 0));
    cache.unlock(cache.insert(locked, key, 0, 2, table, true).node());
    return table;
  }

  @Test
  void partsGoFromDuplicatesToTheCachedPages() {
    cache.use(parts);
    int[] cached = insert();
    assertThat(parts.replaced).isEmpty();
    assertThat(insert()).isEqualTo(cached);
    assertThat(parts.replaced).hasSize(2).allMatch(each -> each.matches("\\d by \\d"));
    assertThat(parts.replaced.get(1)).endsWith(" by " + cached[1]);
  }

  @Test
  void aMatchIsOutOfDateOnceTheComponentHasChanged() {
    cache.use(parts);
    long before = cache.version();
    parts.version++;
    assertThat(cache.version()).isNotEqualTo(before);
  }

  @Test
  void withoutAComponentEachMatchIsUsable() {
    insert();
    PrefixMatch match = cache.match(key, 2);
    assertThat(cache.component().usable(match)).isSameAs(match);
    assertThat(cache.component().endPages()).isZero();
  }
}
