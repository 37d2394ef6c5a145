package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.tier.TierPages.Chain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** A disk store against a set of the pages that it may have. */
class DiskStoreProperties {
  private static final long SEGMENT = 8 << 10;
  private static final int CHAINS = 12;
  private static final int LENGTH = 10;
  private static final int TENANTS = 3;

  /** A store, what it may have, and how often its directory is lost. */
  private static final class World {
    private final MemoryFiles files = new MemoryFiles();
    private final Set<PageId> written = new HashSet<>();
    private final Random random;
    private final long limit;
    private HeapDirectory directory = new HeapDirectory();
    private DiskStore store;

    World(int seed, int segments) throws IOException {
      this.random = new Random(seed);
      this.limit = segments * SEGMENT;
      open();
    }

    private void open() throws IOException {
      DiskStoreOptions options = DiskStoreOptions.of("memory", limit).withSegmentBytes(SEGMENT);
      store = new DiskStore(options, files, directory, null, EPOCH, PAGE_BYTES, () -> 1);
    }

    Chain someChain() {
      int tenant = random.nextInt(TENANTS);
      String namespace = tenant == 0 ? "" : "tenant " + tenant;
      return chain(random.nextInt(CHAINS), LENGTH, namespace, tenant);
    }

    void step() throws Exception {
      int kind = random.nextInt(20);
      if (kind < 8) {
        write(someChain(), 1 + random.nextInt(LENGTH));
      } else if (kind < 15) {
        Chain chain = someChain();
        int found = store.find(chain.ids(), 0, LENGTH);
        assertThat(written).containsAll(List.of(chain.ids()).subList(0, found));
        // fewer only if the store's thread has made room meanwhile
        assertThat(read(store, chain)).isLessThanOrEqualTo(found);
        assertThat(store.stats().misses().keySet()).isSubsetOf(MissReason.ABSENT);
      } else if (kind == 15) {
        remove(someChain(), random.nextInt(LENGTH));
      } else if (kind == 16) {
        removeTenant(random.nextInt(TENANTS));
      } else if (kind == 17 && random.nextInt(4) == 0) {
        store.clear();
        written.clear();
      } else {
        reopen();
      }
      assertThat(files.bytes()).isLessThanOrEqualTo(limit);
    }

    private void write(Chain chain, int length) {
      store.write(chain.pages(), chain.bytes(), length);
      written.addAll(List.of(chain.ids()).subList(0, length));
      assertThat(store.stats().failedWrites()).isZero();
    }

    /** The end of a chain, so that what is left of it hangs together. */
    private void remove(Chain chain, int from) {
      List<PageId> end = List.of(chain.ids()).subList(from, LENGTH);
      store.remove(end.toArray(new PageId[0]), end.size());
      end.forEach(written::remove);
      assertThat(store.find(chain.ids(), from, LENGTH)).isZero();
    }

    private void removeTenant(int tenant) {
      store.removeTenant(tenant);
      for (int i = 0; i < CHAINS; i++) {
        String namespace = tenant == 0 ? "" : "tenant " + tenant;
        written.removeAll(List.of(chain(i, LENGTH, namespace, tenant).ids()));
      }
    }

    /** With the directory as it is, lost, or as it once was. */
    private void reopen() throws IOException {
      List<PageDirectory.Entry> entries = new ArrayList<>();
      directory.forEach(entries::add);
      store.close();
      directory = new HeapDirectory();
      entries.removeIf(entry -> random.nextInt(3) == 0);
      directory.put(entries);
      open();
    }

    /**
     * Each page in a file is in the directory, each in the directory in a file; none is alone. At
     * the end: while the store's thread copies pages, they lie in two files.
     */
    void check() throws Exception {
      assertThat(store.awaitErased(10_000)).isTrue();
      store.close();
      Set<PageId> inFiles = new HashSet<>();
      for (long number : files.list()) {
        SegmentFile file = files.open(number);
        for (RecordHeader record : SegmentScan.of(file, SegmentScan.header(file)).records()) {
          assertThat(record.page() != null || record.erased()).isTrue();
          if (record.page() != null) {
            assertThat(inFiles.add(record.page().id())).isTrue();
          }
        }
      }
      Set<PageId> inDirectory = new HashSet<>();
      directory.forEach(entry -> inDirectory.add(entry.page().id()));
      assertThat(inFiles).isEqualTo(inDirectory);
      assertThat(written).containsAll(inDirectory);
      directory.forEach(
          entry -> {
            if (entry.page().parent() != null) {
              assertThat(inDirectory).contains(entry.page().parent());
            }
          });
    }
  }

  @Property(tries = 60)
  void aStoreHasNoOtherPagesThanThoseWrittenAndNeverAWrongOne(
      @ForAll int seed, @ForAll @IntRange(min = 8, max = 40) int segments) throws Exception {
    World world = new World(seed, segments);
    for (int i = 0; i < 120; i++) {
      world.step();
    }
    world.check();
  }
}
