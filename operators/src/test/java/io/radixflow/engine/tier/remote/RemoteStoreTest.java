package io.radixflow.engine.tier.remote;

import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.holds;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Patience;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import io.radixflow.operators.flink.tiers.FlinkRemoteFiles;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteStoreTest {
  @TempDir Path directory;

  private RemoteStore open(String epoch, TenantKeys keys) throws IOException {
    return open(epoch, PageSizes.of(PAGE_BYTES), keys);
  }

  private RemoteStore open(String epoch, PageSizes sizes, TenantKeys keys) throws IOException {
    String uri = directory.resolve("remote").toUri().toString();
    RemoteTierOptions options =
        new RemoteTierOptions(uri, 8, Patience.DURATION.toMillis(), 0, 0, 0, 0, null);
    return RemoteStore.open(options, epoch, sizes, FlinkRemoteFiles.open(uri), keys);
  }

  private RemoteStore open() throws IOException {
    return open(EPOCH, TierPages.KEYS);
  }

  private List<Path> objects(String kind) throws IOException {
    Path root = directory.resolve("remote");
    if (!Files.isDirectory(root)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(Files::isRegularFile)
          .filter(file -> file.toString().contains("/" + kind + "/"))
          .filter(file -> !file.getFileName().toString().endsWith(".crc"))
          .sorted()
          .toList();
    }
  }

  @Test
  void anotherEngineFindsWhatOneWrote() throws IOException {
    Chain chain = chain(1, 40, "one", 7);
    try (RemoteStore writer = open();
        RemoteStore reader = open()) {
      write(writer, chain);

      assertThat(reader.tier()).isEqualTo(KvTier.REMOTE);
      assertThat(reader.find(chain.ids(), 0, 40)).isEqualTo(40);
      assertThat(read(reader, chain)).isEqualTo(40);
      assertThat(reader.stats().readPages()).isEqualTo(40);
      assertThat(writer.stats().writtenPages()).isEqualTo(40);
    }
  }

  @Test
  void windowPartsAreReadBackAndDeletedWithTheirPages() throws Exception {
    Chain chain = chain(1, 6, "one", 7);
    try (RemoteStore writer = open(EPOCH, TierPages.WITH_WINDOWS, TierPages.KEYS);
        RemoteStore reader = open(EPOCH, TierPages.WITH_WINDOWS, TierPages.KEYS)) {
      write(writer, chain);
      TierPages.writeWindows(writer, chain);
      assertThat(read(reader, chain)).isEqualTo(6);
      assertThat(TierPages.readWindows(reader, chain)).hasSize(6);
      writer.remove(chain.ids(), 4);
      writer.erased().get(60, TimeUnit.SECONDS);
      assertThat(TierPages.readWindows(writer, chain)).containsExactly(4, 5);
      assertThat(TierPages.readWindows(reader, chain)).containsExactly(4, 5);
    }
  }

  @Test
  void readingStopsAtThePageThatIsNotThere() throws IOException {
    try (RemoteStore store = open()) {
      Chain chain = chain(1, 20);
      store.write(chain.pages(), chain.bytes(), 11);

      assertThat(store.find(chain.ids(), 3, 20)).isEqualTo(8);
      assertThat(read(store, chain)).isEqualTo(11);
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.ABSENT, 1L));
    }
  }

  @Test
  void pagesOfAnotherModelOrNamespaceAreMisses() throws IOException {
    Chain chain = chain(1, 5, "one", 7);
    try (RemoteStore store = open();
        RemoteStore other = open("fedcba9876543210", TierPages.KEYS)) {
      write(store, chain);

      assertThat(read(other, chain)).isZero();
      String[] names = {"x", "x", "x", "x", "x"};
      assertThat(store.read(chain.ids(), names, 0, 5, TierPages.buffers(5))).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.NAMESPACE, 1L));
    }
  }

  @Test
  void objectNamesDoNotRevealTheTenant() throws IOException {
    try (RemoteStore store = open()) {
      long tenant = 0x1122_3344_5566_7788L;
      write(store, chain(1, 5, "one", tenant));

      assertThat(objects("tenants").toString()).doesNotContain("1122334455667788");
    }
  }

  @Test
  void damagedObjectsAreMissesAndAreWrittenAgain() throws Exception {
    Chain chain = chain(1, 5);
    Random random = new Random(3);
    try (RemoteStore store = open()) {
      for (int i = 0; i < 40; i++) {
        write(store, chain);
        Path victim = objects("pages").get(random.nextInt(5));
        byte[] bytes = Files.readAllBytes(victim);
        if (i % 2 == 0) {
          bytes[random.nextInt(bytes.length - 24)] ^= (byte) (1 << random.nextInt(8));
          Files.write(victim, bytes);
        } else {
          Files.write(victim, java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length - 24)));
        }
        assertThat(read(store, chain)).isLessThan(5);
        store.erased().get(60, TimeUnit.SECONDS);
      }
      assertThat(store.stats().misses().values().stream().mapToLong(n -> n).sum()).isEqualTo(40);
      assertThat(store.stats().misses()).doesNotContainKey(MissReason.ABSENT);
      write(store, chain);
      assertThat(read(store, chain)).isEqualTo(5);
    }
  }

  @Test
  void anErasedTenantIsUnreadableForAllEnginesThatForgotItsKey() throws Exception {
    Chain kept = chain(1, 10, "one", 1);
    Chain gone = chain(1, 10, "two", 2);
    TenantKeys others = new TenantKeys();
    TenantKeys keys = new TenantKeys();
    keys.whenDrawn(others::add);
    try (RemoteStore writer = open(EPOCH, keys);
        RemoteStore eraser = open(EPOCH, others)) {
      write(writer, kept);
      write(writer, gone);
      assertThat(read(eraser, gone)).isEqualTo(10);
      eraser.removeTenant(2);
      writer.removeTenant(2);

      assertThat(objects("pages")).hasSize(20);
      assertThat(read(eraser, gone)).isZero();
      assertThat(read(writer, gone)).isZero();
      assertThat(read(eraser, kept)).isEqualTo(10);
      assertThat(eraser.stats().misses()).isEqualTo(Map.of(MissReason.KEY, 1L));
    }
  }

  @Test
  void removedPagesAreMissesAtOnceAndThenGone() throws Exception {
    Chain chain = chain(1, 10);
    try (RemoteStore store = open()) {
      write(store, chain);
      store.remove(new PageId[] {chain.ids()[4]}, 1);

      assertThat(store.find(chain.ids(), 0, 10)).isEqualTo(4);
      store.erased().get(60, TimeUnit.SECONDS);
      assertThat(objects("pages")).hasSize(9);
      store.clear();
      store.erased().get(60, TimeUnit.SECONDS);
      assertThat(read(store, chain)).isZero();
      assertThat(objects("pages")).isEmpty();
      write(store, chain);
      assertThat(read(store, chain)).isEqualTo(10);
    }
  }

  @Test
  void pagesUnderAnUnknownKeyAreDeletedAndWrittenAgain() throws Exception {
    Chain chain = chain(1, 10, "one", 1);
    try (RemoteStore writer = open(EPOCH, new TenantKeys());
        RemoteStore without = open(EPOCH, new TenantKeys())) {
      write(writer, chain);

      assertThat(holds(directory, chain)).isFalse();
      assertThat(read(without, chain)).isZero();
      assertThat(without.stats().misses()).isEqualTo(Map.of(MissReason.KEY, 1L));
      without.erased().get(60, TimeUnit.SECONDS);
      assertThat(objects("pages")).hasSize(9);
      without.write(chain.pages(), chain.bytes(), 1);
      assertThat(without.read(chain.ids(), chain.namespaces(), 0, 1, TierPages.buffers(1))).isOne();
    }
  }

  private RemoteStore limited(long bytes, long millis) throws IOException {
    String uri = directory.resolve("remote").toUri().toString();
    RemoteTierOptions options =
        new RemoteTierOptions(uri, 8, Patience.DURATION.toMillis(), 0, bytes, millis, 0, null);
    return RemoteStore.open(
        options, EPOCH, PageSizes.of(PAGE_BYTES), FlinkRemoteFiles.open(uri), TierPages.KEYS);
  }

  private void age(List<Path> files, long minutes) throws IOException {
    long then = System.currentTimeMillis() - minutes * 60_000;
    for (Path file : files) {
      Files.setLastModifiedTime(file, FileTime.fromMillis(then));
    }
  }

  @Test
  void pagesThatAreTooOldAreDeleted() throws Exception {
    Chain old = chain(1, 10, "one", 7);
    Chain young = chain(2, 10, "one", 7);
    try (RemoteStore store = limited(0, 60 * 60_000)) {
      write(store, old);
      age(objects("pages"), 61);
      write(store, young);

      assertThat(store.sweep()).isEqualTo(10);
      assertThat(objects("pages")).hasSize(10);
      assertThat(read(store, old)).isZero();
      assertThat(read(store, young)).isEqualTo(10);
    }
  }

  @Test
  void onlyAsManyOfTheOldestPagesAreDeletedAsExceedTheLimit() throws Exception {
    Chain old = chain(1, 40);
    Chain young = chain(2, 40);
    try (RemoteStore store = limited(1, 0)) {
      write(store, old);
    }
    age(objects("pages"), 5);
    long size = Files.size(objects("pages").get(0));
    try (RemoteStore store = limited(60 * size, 0);
        RemoteStore other = limited(60 * size, 0)) {
      write(store, young);

      assertThat(store.sweep()).isEqualTo(26);
      assertThat(other.sweep()).isZero();
      assertThat(objects("pages")).hasSize(54);
      assertThat(read(other, young)).isEqualTo(40);
    }
  }
}
