package io.radixflow.operators.tier.store;

import static io.radixflow.operators.tier.store.TierPages.EPOCH;
import static io.radixflow.operators.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.operators.tier.store.TierPages.chain;
import static io.radixflow.operators.tier.store.TierPages.holds;
import static io.radixflow.operators.tier.store.TierPages.read;
import static io.radixflow.operators.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.operators.tier.disk.DiskStore;
import io.radixflow.operators.tier.disk.DiskStoreOptions;
import io.radixflow.operators.tier.disk.LocalKeyFiles;
import io.radixflow.operators.tier.page.MissReason;
import io.radixflow.operators.tier.page.TierPage;
import io.radixflow.operators.tier.store.TierPages.Chain;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages at rest, encrypted for each tenant. */
class TenantKeysTest {
  private static final String KEY = "0123456789abcdef".repeat(4);
  private static final String OTHER_KEY = "fedcba9876543210".repeat(4);

  private final Chain first = chain(1, 10, "one", 1);
  private final Chain second = chain(1, 10, "two", 2);

  @TempDir Path directory;
  private Path master;

  @BeforeEach
  void writeKey() throws IOException {
    master = directory.resolve("master");
    Files.writeString(master, KEY + "\n");
  }

  private DiskStore open(boolean encrypted) throws IOException {
    DiskStoreOptions options =
        DiskStoreOptions.of(directory.resolve("tier").toString(), 8 << 20)
            .withKeyFile(encrypted ? master.toString() : null);
    return DiskStore.open(options, EPOCH, PAGE_BYTES);
  }

  private TenantKeys keys() throws IOException {
    return TenantKeys.open(
        master, new LocalKeyFiles(directory.resolve("tier/keys")), EPOCH, () -> 1);
  }

  private ByteBuffer encrypt(TenantKeys keys, int page) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES + TenantKeys.OVERHEAD);
    keys.encrypt(first.pages()[page], first.bytes()[page], out);
    return out.flip();
  }

  @Test
  void filesHoldNoPlainBytesAndTheNextProcessReadsThem() throws IOException {
    try (DiskStore store = open(true)) {
      write(store, first);
      write(store, second);
      assertThat(read(store, first)).isEqualTo(10);
    }
    assertThat(holds(directory, first)).isFalse();
    try (DiskStore store = open(true)) {
      assertThat(read(store, first)).isEqualTo(10);
      assertThat(read(store, second)).isEqualTo(10);
    }
  }

  @Test
  void withoutItsKeyATenantsPagesAreMissesAndOthersAreNot() throws IOException {
    try (DiskStore store = open(true)) {
      write(store, first);
      write(store, second);
    }
    Files.delete(directory.resolve("tier/keys/0000000000000001.key"));
    try (DiskStore store = open(true)) {
      assertThat(read(store, first)).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.KEY, 1L));
      assertThat(read(store, second)).isEqualTo(10);
    }
  }

  @Test
  void erasingATenantDestroysItsKey() throws Exception {
    try (DiskStore store = open(true)) {
      write(store, first);
      write(store, second);
      store.removeTenant(1);

      assertThat(directory.resolve("tier/keys/0000000000000001.key")).doesNotExist();
      assertThat(store.awaitErased(10_000)).isTrue();
      write(store, first);
      assertThat(read(store, first)).isEqualTo(10);
    }
  }

  @Test
  void withAnotherMasterKeyATenantsPagesAreMissedAndNotStoredAndNothingIsLost() throws Exception {
    try (DiskStore store = open(true)) {
      write(store, first);
    }
    Files.writeString(master, OTHER_KEY);
    try (DiskStore store = open(true)) {
      Chain more = chain(3, 10, "one", 1);
      write(store, more);
      assertThat(store.stats().failedWrites()).isEqualTo(10);
      assertThat(read(store, more)).isZero();
      write(store, second);
      assertThat(read(store, second)).isEqualTo(10);
    }
    Files.writeString(master, KEY);
    try (DiskStore store = open(true)) {
      assertThat(read(store, first)).isEqualTo(10);
    }
    Files.writeString(master, OTHER_KEY);
    try (DiskStore store = open(true)) {
      assertThat(read(store, first)).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.KEY, 1L));
      store.removeTenant(1);
      write(store, first);
      assertThat(read(store, first)).as("anew, once the tenant is erased").isEqualTo(10);
    }
  }

  @Test
  void aKeyThatCannotBeReadForAMomentIsNotReplaced() throws IOException {
    TierPage page = first.pages()[0];
    ByteBuffer body = encrypt(keys(), 0);
    boolean[] failing = {true};
    LocalKeyFiles files = new LocalKeyFiles(directory.resolve("tier/keys"));
    KeyFiles sometimes =
        new KeyFiles() {
          @Override
          public List<byte[]> read(String name) throws IOException {
            if (failing[0]) {
              throw new IOException("Too many open files");
            }
            return files.read(name);
          }

          @Override
          public void write(String name, byte[] bytes) throws IOException {
            files.write(name, bytes);
          }

          @Override
          public void destroy(String name) throws IOException {
            files.destroy(name);
          }
        };
    TenantKeys keys = TenantKeys.open(master, sometimes, EPOCH, () -> 1);
    assertThatThrownBy(() -> encrypt(keys, 0))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("Too many open files");
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES);
    assertThat(keys.decrypt(page, body.duplicate(), out)).isFalse();
    failing[0] = false;
    encrypt(keys, 0);
    assertThat(keys.decrypt(page, body.duplicate(), out.clear())).isTrue();
  }

  @Test
  void aKeyThatWasOverwrittenButNotDeletedIsGone() throws IOException {
    Path file = directory.resolve("tier/keys/0000000000000001.key");
    TierPage page = first.pages()[0];
    ByteBuffer body = encrypt(keys(), 0);
    Files.write(file, new byte[(int) Files.size(file)]);

    TenantKeys keys = keys();
    ByteBuffer anew = encrypt(keys, 0);
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES);
    assertThat(keys.decrypt(page, body, out)).isFalse();
    assertThat(keys.decrypt(page, anew, out.clear())).isTrue();
  }

  @Test
  void aPageIsNotTakenForAnother() throws IOException {
    TenantKeys keys = keys();
    TierPage page = first.pages()[3];
    ByteBuffer body = encrypt(keys, 3);
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES);

    assertThat(keys.decrypt(page, body.duplicate(), out.clear())).isTrue();
    TierPage renamed = new TierPage(first.ids()[4], page.parent(), page.namespace(), 1);
    assertThat(keys.decrypt(renamed, body.duplicate(), out.clear())).isFalse();
    TierPage elsewhere = new TierPage(page.id(), page.parent(), "", 1);
    assertThat(keys.decrypt(elsewhere, body.duplicate(), out.clear())).isFalse();
    TierPage others = new TierPage(page.id(), page.parent(), page.namespace(), 2);
    assertThat(keys.decrypt(others, body.duplicate(), out.clear())).isFalse();
  }

  @Test
  void noNonceIsUsedTwice() throws IOException {
    TenantKeys keys = keys();
    Set<ByteBuffer> nonces = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      byte[] nonce = new byte[12];
      encrypt(keys, 0).get(nonce);
      assertThat(nonces.add(ByteBuffer.wrap(nonce))).isTrue();
    }
  }

  @Test
  void aFileWithoutAKeyIsRefusedWithoutShowingIt() throws IOException {
    Files.writeString(master, "correct horse battery staple");
    assertThatThrownBy(this::keys)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("64 hexadecimal digits")
        .hasMessageNotContaining("horse")
        .hasNoCause();
  }
}
