package io.radixflow.engine.tier.remote;

import static io.radixflow.engine.Patience.await;
import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Patience;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.store.PageCodec;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.TierPages;
import io.radixflow.engine.tier.store.TierPages.Chain;
import io.radixflow.operators.flink.tiers.FlinkRemoteFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Faults of a remote file system and of its objects: no page is wrong and no caller waits. */
@Timeout(180)
class RemoteFaultsTest {
  @TempDir Path directory;

  private FaultyRemoteFiles files;

  private final AtomicLong clock = new AtomicLong();

  /** Opens a store that waits as long as is needed. */
  private RemoteStore open() throws IOException {
    return open(Patience.DURATION.toMillis());
  }

  private RemoteStore open(long timeoutMillis) throws IOException {
    String uri = directory.resolve("remote").toUri().toString();
    files = new FaultyRemoteFiles(FlinkRemoteFiles.open(uri));
    RemoteTierOptions options = new RemoteTierOptions(uri, 4, timeoutMillis, 0, 0, 0, 0, null);
    GuardedFiles guarded = new GuardedFiles(files, timeoutMillis, 8, clock::get);
    return new RemoteStore(
        options, guarded, TierPages.KEYS, EPOCH, PageSizes.of(PAGE_BYTES), clock::get);
  }

  private List<Path> objects() throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> file.toString().contains("/pages/"))
          .sorted()
          .toList();
    }
  }

  private static long misses(RemoteStore store) {
    return store.stats().misses().values().stream().mapToLong(n -> n).sum();
  }

  @Test
  void flippedBitsAreMissesAndNeverOtherBytes() throws Exception {
    Chain chain = chain(1, 4);
    Random random = new Random(5);
    try (RemoteStore store = open()) {
      write(store, chain);
      Path victim = objects().get(2);
      byte[] good = Files.readAllBytes(victim);
      for (int i = 0; i < 1_000; i++) {
        byte[] bytes = good.clone();
        bytes[random.nextInt(PageCodec.HEADER_BYTES + PAGE_BYTES)] ^=
            (byte) (1 << random.nextInt(8));
        Files.write(victim, bytes);
        long before = misses(store);
        // a change of a header's spare bytes is not seen; all others are a miss
        assertThat(read(store, chain) < 4).isEqualTo(misses(store) > before);
        store.erased().get(60, TimeUnit.SECONDS);
      }
      Files.write(victim, good);
      assertThat(read(store, chain)).isEqualTo(4);
      assertThat(misses(store)).isGreaterThan(800);
    }
  }

  @Test
  void swappedObjectsAndThoseOfAnotherModelAreMisses() throws Exception {
    Chain chain = chain(1, 2);
    try (RemoteStore store = open()) {
      write(store, chain);
      Path first = objects().get(0);
      Path second = objects().get(1);
      byte[] bytes = Files.readAllBytes(first);
      Files.write(first, Files.readAllBytes(second));
      Files.write(second, bytes);

      assertThat(read(store, chain)).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.DIGEST, 1L));
      store.erased().get(60, TimeUnit.SECONDS);
      write(store, chain);
    }
    String other = "fedcba9876543210";
    Files.move(
        directory.resolve("remote").resolve(EPOCH), directory.resolve("remote").resolve(other));
    String uri = directory.resolve("remote").toUri().toString();
    try (RemoteStore store =
        RemoteStore.open(
            new RemoteTierOptions(uri, 8, Patience.DURATION.toMillis(), 0, 0, 0, 0, null),
            other,
            PageSizes.of(PAGE_BYTES),
            FlinkRemoteFiles.open(uri),
            TierPages.KEYS)) {
      assertThat(read(store, chain)).isZero();
      assertThat(store.stats().misses()).containsOnlyKeys(MissReason.EPOCH);
    }
  }

  @Test
  void aFileSystemThatHangsTimesOutAndIsThenNotTried() throws Exception {
    Chain chain = chain(1, 8);
    try (RemoteStore patient = open()) {
      write(patient, chain);
    }
    try (RemoteStore store = open(100)) {
      files.hang();
      assertThat(read(store, chain)).isZero();
      assertThat(store.isReady()).isFalse();
      assertThat(store.find(chain.ids(), 0, 8)).isZero();
      assertThat(read(store, chain)).isZero();
      assertThat(store.write(chain(2, 3).pages(), chain(2, 3).bytes(), 3)).isEqualTo(3);
      assertThat(store.stats().misses())
          .containsEntry(MissReason.TIMEOUT, 1L)
          .containsEntry(MissReason.UNREACHABLE, 2L);

      files.stopHanging();
      // on a busy machine a try may take longer than the timeout, after which there is a pause
      await()
          .untilAsserted(
              () -> {
                clock.addAndGet(CircuitBreaker.MOST_MILLIS);
                assertThat(read(store, chain)).as("%s", store.stats().misses()).isEqualTo(8);
              });
    }
  }

  @Test
  void anObjectWrittenAfterItsTimeoutIsDeleted() throws Exception {
    Chain chain = chain(1, 1, "one", 7);
    try (RemoteStore patient = open()) {
      write(patient, chain(2, 1, "one", 7));
    }
    try (RemoteStore store = open(200)) {
      files.hang();
      int before = files.calls();
      // on a busy machine the timeout may be over before the operation has begun
      await()
          .until(
              () -> {
                clock.addAndGet(CircuitBreaker.MOST_MILLIS);
                assertThat(store.write(chain.pages(), chain.bytes(), 1)).isEqualTo(1);
                return files.calls() > before;
              });
      files.stopHanging();
      await().until(() -> files.deletions() > 0);
      assertThat(objects()).hasSize(1);
      assertThat(read(store, chain)).isZero();
    }
  }

  @Test
  void aFileSystemThatFailsIsTriedAgainAfterGrowingPauses() {
    AtomicLong clock = new AtomicLong();
    CircuitBreaker breaker = new CircuitBreaker(clock::get);
    for (int i = 0; i < CircuitBreaker.FAILURES; i++) {
      assertThat(breaker.begin()).isTrue();
      breaker.failed();
    }
    for (long pause = CircuitBreaker.FIRST_MILLIS; pause < 40_000; pause *= 2) {
      clock.addAndGet(pause - 1);
      assertThat(breaker.begin()).isFalse();
      clock.incrementAndGet();
      assertThat(breaker.begin()).isTrue();
      assertThat(breaker.begin()).as("one try at a time").isFalse();
      breaker.failed();
    }
    clock.addAndGet(CircuitBreaker.MOST_MILLIS);
    assertThat(breaker.begin()).isTrue();
    breaker.succeeded();
    assertThat(breaker.begin()).isTrue();
    assertThat(breaker.begin()).isTrue();
  }
}
