package io.radixflow.protocol.fair;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class FairCacheProperties {

  @Example
  void theLastValueIsKeptEvenIfItIsTooLarge() {
    FairCache<Integer, Long> cache = new FairCache<>(10, 5, size -> size);
    cache.putIfAbsent("a", 1, 3L);
    cache.putIfAbsent("a", 2, 9L);
    assertThat(cache.get("a", 1)).isNull();
    assertThat(cache.get("a", 2)).isEqualTo(9);
  }

  @Example
  void aValueIsTheTenantsThatPutIt() {
    FairCache<Integer, Long> cache = new FairCache<>(10, 10, size -> size);
    cache.putIfAbsent("a", 1, 1L);
    assertThat(cache.get("b", 1)).isNull();
    cache.remove("b", 1);
    assertThat(cache.size()).isOne();
    cache.remove("a", 1);
    assertThat(cache.size()).isZero();
  }

  /** The limits hold, and each tenant keeps what it used last up to an equal part of them. */
  @Property(tries = 200)
  void aTenantLosesNothingWhileItHasLessThanItsPart(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 40) int limit,
      @ForAll @IntRange(min = 1, max = 5) int tenants) {
    Random random = new Random(seed);
    FairCache<Integer, Integer> cache = new FairCache<>(limit, 1000L * limit, value -> 1000);
    List<List<Integer>> used = new ArrayList<>();
    for (int i = 0; i < tenants; i++) {
      used.add(new ArrayList<>());
    }
    for (int i = 0; i < 300; i++) {
      int tenant = random.nextInt(1 + random.nextInt(tenants)); // the first ones put the most
      Integer key = random.nextInt(60);
      if (cache.get("t" + tenant, key) == null) {
        cache.putIfAbsent("t" + tenant, key, i);
      }
      used.get(tenant).remove(key);
      used.get(tenant).add(key);
      assertThat(cache.size()).isLessThanOrEqualTo(limit);
    }
    for (int tenant = 0; tenant < tenants; tenant++) {
      List<Integer> own = used.get(tenant);
      int part = Math.min(own.size(), limit / tenants);
      for (Integer key : own.subList(own.size() - part, own.size())) {
        assertThat(cache.get("t" + tenant, key)).isNotNull();
      }
    }
  }
}
