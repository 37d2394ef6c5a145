package io.radixflow.engine.tier.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.protocol.record.kv.KvEvent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * What must hold of host memory after any operations. An entry that is evicted is gone (SGLang's
 * case U32), and none is cut off from those before it (U34).
 */
class HostTierProperties {
  private static final int CHAINS = 6;
  private static final int LENGTH = 9;

  /** Memory that only counts. */
  private record Counted(int pages) implements HostPages {
    @Override
    public long pageBytes() {
      return 8;
    }

    @Override
    public ByteBuffer buffer(int page) {
      return ByteBuffer.allocate(8);
    }

    @Override
    public void close() {}
  }

  private final List<PageChain> chains = new ArrayList<>();

  HostTierProperties() {
    for (int i = 0; i < CHAINS; i++) {
      int[] tokens = new int[LENGTH];
      for (int t = 0; t < LENGTH; t++) {
        tokens[t] = t < 4 ? t + i % 2 : 100 * i + t; // each two share pages
      }
      chains.add(PageChain.of(RadixKey.of(tokens), 1, 0));
    }
  }

  @Property(tries = 300)
  void pagesAreConservedAndNothingIsCutOff(
      @ForAll @IntRange(min = 1, max = 40) int pages, @ForAll long seed) {
    Random random = new Random(seed);
    HostTier host = new HostTier(new Counted(pages), 1);
    Set<Long> published = new HashSet<>();
    host.listen(
        event -> {
          if (event instanceof KvEvent.Stored stored) {
            assertThat(published.add(stored.block())).isTrue();
          } else if (event instanceof KvEvent.Removed removed) {
            assertThat(published.remove(removed.blocks()[0])).isTrue();
          }
        });
    List<HostPage> locked = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      step(host, random, locked);
      assertThat(host.audit()).isTrue();
      assertThat(host.used()).isLessThanOrEqualTo(pages);
    }
    assertThat(host.content().stream().map(KvEvent.Stored::block))
        .containsExactlyInAnyOrderElementsOf(published);
    locked.forEach(host::unlock);
    host.clear();
    assertThat(host.used()).isZero();
    assertThat(host.locked()).isZero();
    assertThat(published).isEmpty();
  }

  private void step(HostTier host, Random random, List<HostPage> locked) {
    PageChain chain = chains.get(random.nextInt(CHAINS));
    switch (random.nextInt(6)) {
      case 0, 1 -> fill(host, chain, random, locked);
      case 2 -> {
        HostPage entry = host.get(chain.id(random.nextInt(LENGTH)));
        if (entry != null && entry.ready) {
          host.lock(entry);
          locked.add(entry);
        }
      }
      case 3 -> {
        if (!locked.isEmpty()) {
          host.unlock(locked.remove(random.nextInt(locked.size())));
        }
      }
      case 4 -> {
        HostPage entry = host.get(chain.id(random.nextInt(LENGTH)));
        if (entry != null) {
          host.onDevice(entry, random.nextBoolean());
        }
      }
      default -> {
        HostPage entry = host.get(chain.id(random.nextInt(LENGTH)));
        if (entry != null && random.nextInt(4) == 0) {
          host.remove(entry);
        }
      }
    }
  }

  /** Adds the first page of a chain that is missing. */
  private void fill(HostTier host, PageChain chain, Random random, List<HostPage> locked) {
    int next = 0;
    while (next < LENGTH && host.get(chain.id(next)) != null) {
      next++;
    }
    if (next == LENGTH) {
      return;
    }
    int before = next;
    HostPage entry = host.allocate(chain.page(next), random.nextBoolean());
    if (entry == null) {
      return;
    }
    for (int i = 0; i < before; i++) {
      assertThat(host.get(chain.id(i))).as("eviction takes leaves only").isNotNull();
    }
    host.ready(entry, 7);
    if (random.nextBoolean()) {
      locked.add(entry);
    } else {
      host.unlock(entry);
    }
  }
}
