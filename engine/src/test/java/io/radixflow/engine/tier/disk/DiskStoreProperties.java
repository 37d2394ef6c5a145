package io.radixflow.engine.tier.disk;

import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** A disk store against a set of the pages that it must have. */
class DiskStoreProperties {
  private static final int CHAINS = 12;
  private static final int LENGTH = 10;
  private static final int TENANTS = 3;

  /** A store and what it must have. */
  private static final class World implements AutoCloseable {
    private final Path directory = Files.createTempDirectory("disk-store");
    private final Set<PageId> expected = new HashSet<>();
    private final Random random;
    private DiskStore store;

    World(int seed) throws IOException {
      this.random = new Random(seed);
      open();
    }

    private void open() throws IOException {
      DiskTierOptions options = DiskTierOptions.of(64 << 20);
      store = DiskStore.open(directory, options, EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS);
    }

    private static Chain chainOf(int seed, int tenant) {
      return chain(seed, LENGTH, tenant == 0 ? "" : "tenant " + tenant, tenant);
    }

    void step() throws Exception {
      Chain chain = chainOf(random.nextInt(CHAINS), random.nextInt(TENANTS));
      List<PageId> ids = List.of(chain.ids());
      int from = random.nextInt(LENGTH);
      switch (random.nextInt(12)) {
        case 0, 1, 2, 3 -> {
          store.write(chain.pages(), chain.bytes(), from + 1);
          expected.addAll(ids.subList(0, from + 1));
        }
        case 4 -> {
          store.remove(Arrays.copyOfRange(chain.ids(), from, LENGTH), LENGTH - from);
          ids.subList(from, LENGTH).forEach(expected::remove);
        }
        case 5 -> erase(ids, from);
        case 6 -> {
          int tenant = random.nextInt(TENANTS);
          store.removeTenant(tenant);
          for (int i = 0; i < CHAINS; i++) {
            expected.removeAll(List.of(chainOf(i, tenant).ids()));
          }
        }
        case 7 -> {
          if (random.nextInt(4) == 0) {
            store.clear();
            expected.clear();
          }
        }
        case 8 -> {
          store.close();
          open();
        }
        default -> assertThat(read(store, chain)).isEqualTo(present(ids));
      }
      assertThat(store.find(chain.ids(), 0, LENGTH)).isEqualTo(present(ids));
      assertThat(store.stats().pages()).isEqualTo(expected.size());
    }

    /** A page goes if the one after it went or is not there. */
    private void erase(List<PageId> ids, int to) {
      store.erase(ids.subList(0, to + 1).toArray(PageId[]::new));
      for (int i = to; i >= 0; i--) {
        if (i + 1 < LENGTH && expected.contains(ids.get(i + 1))) {
          return;
        }
        expected.remove(ids.get(i));
      }
    }

    private int present(List<PageId> ids) {
      int at = 0;
      while (at < LENGTH && expected.contains(ids.get(at))) {
        at++;
      }
      return at;
    }

    @Override
    public void close() throws IOException {
      store.close();
      PrivateDirectories.delete(directory);
    }
  }

  @Property(tries = 20)
  void aStoreHasThePagesThatWereWrittenAndNotRemoved(@ForAll int seed) throws Exception {
    try (World world = new World(seed)) {
      for (int i = 0; i < 120; i++) {
        world.step();
      }
    }
  }

  /** The store has room for about 2,000 pages. */
  @Property(tries = 5)
  void aFullStoreHasTheLatestPagesAndNoWrongOne(
      @ForAll int seed, @ForAll @IntRange(min = 4, max = 6) int megabytes) throws Exception {
    Path directory = Files.createTempDirectory("disk-store");
    Random random = new Random(seed);
    DiskTierOptions options = DiskTierOptions.of((long) megabytes << 20);
    List<Chain> written = new ArrayList<>();
    DiskStore store =
        DiskStore.open(directory, options, EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS);
    for (int i = 0; i < 120; i++) {
      Chain chain = chain(i, 1 + random.nextInt(100));
      written.add(chain);
      TierPages.write(store, chain);
      Chain some = written.get(random.nextInt(written.size()));
      assertThat(read(store, some)).isLessThanOrEqualTo(some.length());
      assertThat(read(store, chain)).isEqualTo(chain.length());
      assertThat(store.stats().bytes()).isLessThanOrEqualTo((long) megabytes << 20);
      assertThat(store.stats().misses().keySet()).isSubsetOf(MissReason.ABSENT);
      if (random.nextInt(20) == 0) {
        store.close();
        store = DiskStore.open(directory, options, EPOCH, PageSizes.of(PAGE_BYTES), TierPages.KEYS);
      }
    }
    store.close();
    PrivateDirectories.delete(directory);
  }
}
