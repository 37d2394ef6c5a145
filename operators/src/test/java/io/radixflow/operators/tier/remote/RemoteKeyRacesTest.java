package io.radixflow.operators.tier.remote;

import static io.radixflow.operators.tier.store.TierPages.EPOCH;
import static io.radixflow.operators.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.store.TierPages.chain;
import static io.radixflow.operators.tier.store.TierPages.read;
import static io.radixflow.operators.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.engine.FlinkRemoteFiles;
import io.radixflow.operators.tier.store.KeyFiles;
import io.radixflow.operators.tier.store.TenantKeys;
import io.radixflow.operators.tier.store.TierPages.Chain;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Engines that write a tenant's first page at the same moment, each having found no key. */
@Timeout(60)
class RemoteKeyRacesTest {
  private static final int TIMEOUT = 50_000;

  private final Chain first = chain(1, 10, "one", 1);
  private final Chain second = chain(2, 10, "one", 1);

  @TempDir Path directory;
  private Path master;

  @BeforeEach
  void writeKey() throws IOException {
    master = directory.resolve("master");
    Files.writeString(master, "0123456789abcdef".repeat(4));
  }

  private String uri() {
    return directory.resolve("remote").toUri().toString();
  }

  /** An engine's store, which runs {@code gate} when it is about to make a key. */
  private RemoteStore open(Callable<?> gate) throws IOException {
    RemoteFiles files = FlinkRemoteFiles.open(uri());
    RemoteFiles gated =
        (RemoteFiles)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RemoteFiles.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("create")
                      && ((String) arguments[0]).contains("/keys/")) {
                    gate.call();
                  }
                  try {
                    return method.invoke(files, arguments);
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
    RemoteStoreOptions options =
        RemoteStoreOptions.of(uri()).withTransfers(4, TIMEOUT, 0).withKeyFile(master.toString());
    return RemoteStore.open(options, EPOCH, PAGE_BYTES, gated);
  }

  private long keyObjects() throws IOException {
    try (Stream<Path> all = Files.walk(directory.resolve("remote").resolve(EPOCH))) {
      return all.filter(file -> file.toString().contains("/keys/"))
          .filter(Files::isRegularFile)
          .filter(file -> file.toString().endsWith(".key"))
          .count();
    }
  }

  private void assertAllRead(RemoteStore... stores) {
    for (RemoteStore store : stores) {
      assertThat(read(store, first)).isEqualTo(10);
      assertThat(read(store, second)).isEqualTo(10);
      assertThat(store.stats().misses()).isEmpty();
      assertThat(store.stats().failedWrites()).isZero();
    }
  }

  @Test
  void twoThatMakeAKeyAtOnceAndAnyOtherReadAllPages() throws Exception {
    CyclicBarrier both = new CyclicBarrier(2);
    try (RemoteStore one = open(both::await);
        RemoteStore two = open(both::await);
        RemoteStore later = open(() -> null)) {
      CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> write(one, first));
      write(two, second);
      writing.get(TIMEOUT, TimeUnit.MILLISECONDS);

      assertThat(keyObjects()).isEqualTo(2);
      assertAllRead(one, two, later);
    }
  }

  @Test
  void pagesThatWereWrittenBeforeTheOthersKeyStayReadable() throws Exception {
    CountDownLatch arrived = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    try (RemoteStore early = open(() -> null);
        RemoteStore late =
            open(
                () -> {
                  arrived.countDown();
                  goOn.await();
                  return null;
                });
        RemoteStore later = open(() -> null)) {
      CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> write(late, second));
      arrived.await();
      write(early, first);
      assertThat(read(later, first)).isEqualTo(10);
      goOn.countDown();
      writing.get(TIMEOUT, TimeUnit.MILLISECONDS);

      assertThat(keyObjects()).isEqualTo(2);
      assertAllRead(early, late, later);
      early.removeTenant(1);
      assertThat(early.awaitErased(10_000)).isTrue();
      assertThat(keyObjects()).isZero();
    }
  }

  /** Keys in memory, any number of a name; tells how often they were read. */
  private static final class SharedKeys implements KeyFiles {
    private final List<byte[]> made = new ArrayList<>();
    private int reads;
    private boolean hidden;

    @Override
    public List<byte[]> read(String name) {
      reads++;
      return hidden ? List.of() : List.copyOf(made);
    }

    @Override
    public void write(String name, byte[] bytes) {
      made.add(bytes);
      hidden = false;
    }

    @Override
    public void destroy(String name) {
      made.clear();
    }
  }

  private TenantKeys keys(KeyFiles files, AtomicLong clock) throws IOException {
    return TenantKeys.open(master, files, EPOCH, clock::get);
  }

  private ByteBuffer encrypt(TenantKeys keys, int page) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES + TenantKeys.OVERHEAD);
    keys.encrypt(first.pages()[page], first.bytes()[page], out);
    return out.flip();
  }

  private boolean decrypts(TenantKeys keys, ByteBuffer body, int page) {
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES);
    boolean done = keys.decrypt(first.pages()[page], body.duplicate(), out);
    assertThat(out.clear().equals(first.bytes()[page].clear())).isEqualTo(done);
    return done;
  }

  @Test
  void newKeysAreLookedForAtMostOnceASecond() throws IOException {
    SharedKeys files = new SharedKeys();
    AtomicLong clock = new AtomicLong(5_000);
    TenantKeys reader = keys(files, clock);
    ByteBuffer mine = encrypt(reader, 0);
    files.hidden = true;
    ByteBuffer others = encrypt(keys(files, clock), 1);

    int before = files.reads;
    assertThat(decrypts(reader, others, 2)).as("another page").isFalse();
    assertThat(files.reads).isEqualTo(before + 1);
    assertThat(decrypts(reader, others, 1)).isTrue();
    assertThat(decrypts(reader, mine, 0)).isTrue();
    assertThat(decrypts(reader, mine, 1)).isFalse();
    assertThat(files.reads).isEqualTo(before + 1);
    clock.addAndGet(1_000);
    assertThat(decrypts(reader, mine, 1)).isFalse();
    assertThat(files.reads).isEqualTo(before + 2);
  }

  @Test
  void keysThatAnotherProcessDestroyedAreUsedNoMore() throws IOException {
    SharedKeys files = new SharedKeys();
    AtomicLong clock = new AtomicLong(5_000);
    TenantKeys keys = keys(files, clock);
    ByteBuffer body = encrypt(keys, 0);
    files.destroy("any");

    assertThat(decrypts(keys, body, 1)).isFalse();
    assertThat(decrypts(keys, body, 0)).isFalse();
    ByteBuffer anew = encrypt(keys, 0);
    assertThat(decrypts(keys(files, clock), anew, 0)).isTrue();
  }
}
