package io.radixflow.operators.tier;

import static io.radixflow.operators.tier.TierPages.EPOCH;
import static io.radixflow.operators.tier.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.TierPages.chain;
import static io.radixflow.operators.tier.TierPages.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.tier.TierPages.Chain;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Opening a store with what its directory knows of the files leaves the same as reading all files,
 * whatever happened to them since.
 */
class ReconciliationProperties {
  private static final long SEGMENT = 8 << 10;
  private static final int CHAINS = 12;
  private static final int LENGTH = 10;
  private static final int TENANTS = 3;

  /** What an opened store knows. */
  private record Known(Set<String> pages, List<String> segments, boolean erases) {}

  /** Stores one after the other over the same files, and copies of their directories. */
  private static final class World {
    private final Random random;
    private final long limit;
    private final List<SnapshotDirectory> generations = new ArrayList<>();
    private MemoryFiles files = new MemoryFiles();
    private SnapshotDirectory directory = new SnapshotDirectory();
    private DiskStore store;

    World(int seed, int segments) throws IOException {
      this.random = new Random(seed);
      this.limit = segments * SEGMENT;
      open();
    }

    private void open() throws IOException {
      DiskStoreOptions options = DiskStoreOptions.of("memory", limit).withSegmentBytes(SEGMENT);
      store = new DiskStore(options, files, directory, null, EPOCH, PAGE_BYTES, () -> 1);
      generations.add(directory.copy());
    }

    private Chain someChain() {
      int tenant = random.nextInt(TENANTS);
      return chain(random.nextInt(CHAINS), LENGTH, tenant == 0 ? "" : "tenant " + tenant, tenant);
    }

    void step() throws Exception {
      Chain chain = someChain();
      switch (random.nextInt(16)) {
        case 0, 1 -> remove(chain, random.nextInt(LENGTH));
        case 2 -> store.removeTenant(random.nextInt(TENANTS));
        case 3 -> store.awaitErased(10_000);
        case 4, 5 -> generations.add(directory.copy());
        case 6 -> die();
        case 7 -> read(store, chain);
        default -> store.write(chain.pages(), chain.bytes(), 1 + random.nextInt(LENGTH));
      }
    }

    private void remove(Chain chain, int from) {
      PageId[] end = Arrays.copyOfRange(chain.ids(), from, LENGTH);
      store.remove(end, end.length);
    }

    /** The process dies; the next finds the files and one of the directories. */
    void die() throws IOException {
      generations.add(directory.copy());
      MemoryFiles left = files.afterwards();
      store.close();
      SnapshotDirectory found = generations.get(random.nextInt(generations.size()));
      damage(left);
      compare(left, found);
      generations.clear();
      generations.add(found);
      files = left;
      directory = found.copy();
      open();
      serve();
    }

    /** What may happen to files while nobody uses them. */
    private void damage(MemoryFiles left) {
      List<Long> numbers = left.list();
      if (numbers.size() < 2 || random.nextInt(2) == 0) {
        return;
      }
      long one = numbers.get(random.nextInt(numbers.size()));
      long other = numbers.get(random.nextInt(numbers.size()));
      byte[] bytes = left.content.get(one);
      switch (random.nextInt(4)) {
        case 0 -> left.content.remove(one);
        case 1 -> left.content.put(one, Arrays.copyOf(bytes, random.nextInt(bytes.length)));
        case 2 -> left.content.put(one, left.content.put(other, bytes));
        default -> {
          byte[] longer = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(300));
          Arrays.fill(longer, bytes.length, longer.length, (byte) random.nextInt());
          left.content.put(one, longer);
        }
      }
    }

    private void compare(MemoryFiles left, SnapshotDirectory found) throws IOException {
      Known quick = reconcile(left.afterwards(), found.copy());
      Known whole = reconcile(left.afterwards(), new SnapshotDirectory());
      assertThat(quick.pages).hasSameElementsAs(whole.pages);
      assertThat(quick.segments).isEqualTo(whole.segments);
      assertThat(quick.erases).isEqualTo(whole.erases);
    }

    private Known reconcile(MemoryFiles left, SnapshotDirectory known) throws IOException {
      Erasure erasure = new Erasure();
      SegmentLog log = new SegmentLog(left, EPOCH, PAGE_BYTES, SEGMENT, () -> 1, erasure, false);
      new Reconciliation(left, log, new PageIndex(known), erasure, false).run(EPOCH, PAGE_BYTES);
      return new Known(
          known.entries().stream()
              .map(each -> place(each.page(), each.segment(), each.offset()))
              .collect(Collectors.toSet()),
          log.segments().stream()
              .map(each -> each.number() + " " + each.bytes() + " " + each.deadBytes())
              .toList(),
          !erasure.isEmpty());
    }

    /** No page is wrong; {@link TierPages#read} compares. */
    private void serve() {
      for (int i = 0; i < CHAINS; i++) {
        for (int tenant = 0; tenant < TENANTS; tenant++) {
          read(store, chain(i, LENGTH, tenant == 0 ? "" : "tenant " + tenant, tenant));
        }
      }
    }

    private static String place(TierPage page, long segment, long offset) {
      return Long.toHexString(page.id().d()) + " " + page.tenant() + " " + segment + " " + offset;
    }

    /** Where pages are by the files, all of which are in the directory. */
    private Set<String> check() throws Exception {
      assertThat(store.awaitErased(10_000)).isTrue();
      store.close();
      Set<String> inFiles = new HashSet<>();
      for (long number : files.list()) {
        SegmentFile file = files.open(number);
        for (RecordHeader record : SegmentScan.of(file, SegmentScan.header(file)).records()) {
          assertThat(record.page() != null || record.erased()).isTrue();
          if (record.page() != null) {
            inFiles.add(place(record.page(), number, record.offset()));
          }
        }
      }
      assertThat(inDirectory()).containsAll(inFiles);
      return inFiles;
    }

    private Set<String> inDirectory() {
      return directory.entries().stream()
          .map(each -> place(each.page(), each.segment(), each.offset()))
          .collect(Collectors.toSet());
    }
  }

  @Property(tries = 100)
  void theEndsOfFilesTellWhatWholeFilesTell(
      @ForAll int seed, @ForAll @IntRange(min = 8, max = 40) int segments) throws Exception {
    World world = new World(seed, segments);
    for (int i = 0; i < 120; i++) {
      world.step();
    }
    assertThat(world.check()).hasSameElementsAs(world.inDirectory());
  }

  @Property(tries = 30)
  void bitsThatFlippedInKnownPartsAreMissesWhenTheyAreRead(@ForAll int seed) throws Exception {
    World world = new World(seed, 40);
    for (int i = 0; i < 40; i++) {
      Chain chain = world.someChain();
      world.store.write(chain.pages(), chain.bytes(), LENGTH);
    }
    world.store.close();
    for (int i = 0; i < 50; i++) {
      List<Long> numbers = world.files.list();
      long number = numbers.get(world.random.nextInt(numbers.size()));
      world.files.flip(
          number, world.random.nextInt(world.files.content.get(number).length * Byte.SIZE));
    }
    world.open();
    world.serve();
    world.check();
  }

  @Example
  void openingReadsOnlyWhatWasWrittenAfterTheDirectoryWasCopied() throws IOException {
    World world = new World(1, 1000);
    for (int i = 0; i < 300; i++) {
      Chain chain = chain(i, LENGTH);
      world.store.write(chain.pages(), chain.bytes(), LENGTH);
    }
    SnapshotDirectory copy = world.directory.copy();
    long before = world.files.bytes();
    Chain late = chain(1000, 3);
    world.store.write(late.pages(), late.bytes(), 3);
    long tail = world.files.bytes() - before;
    world.store.close();
    int segments = world.files.list().size();

    world.files.read = 0;
    world.directory = copy;
    world.open();

    assertThat(segments).isGreaterThan(300);
    assertThat(world.files.read)
        .isLessThanOrEqualTo(segments * (SegmentHeader.BYTES + RecordHeader.BYTES) + tail);
    assertThat(world.store.find(late.ids(), 0, 3)).isEqualTo(3);
    assertThat(read(world.store, chain(0, LENGTH))).isEqualTo(LENGTH);
    world.store.close();
  }
}
