package io.radixflow.engine.tier.store;

import static io.radixflow.engine.tier.store.TierPages.EPOCH;
import static io.radixflow.engine.tier.store.TierPages.PAGE_BYTES;
import static io.radixflow.engine.tier.store.TierPages.chain;
import static io.radixflow.engine.tier.store.TierPages.holds;
import static io.radixflow.engine.tier.store.TierPages.read;
import static io.radixflow.engine.tier.store.TierPages.write;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.disk.DiskStore;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.TierPages.Chain;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that stored pages are encrypted for each tenant. */
class TenantKeysTest {
  private final Chain first = chain(1, 10, "one", 1);
  private final Chain second = chain(1, 10, "two", 2);
  private final TenantKeys keys = new TenantKeys();

  @TempDir Path directory;

  private DiskStore open(TenantKeys known) throws IOException {
    return DiskStore.open(
        directory, DiskTierOptions.of(8 << 20), EPOCH, PageSizes.of(PAGE_BYTES), known);
  }

  private ByteBuffer encrypt(int page) {
    ByteBuffer out = ByteBuffer.allocate(PAGE_BYTES + PageCipher.OVERHEAD);
    new PageCipher(keys, 7).encrypt(first.pages()[page], first.bytes()[page], out);
    return out.flip();
  }

  private static boolean decrypts(TenantKeys known, TierPage page, long epoch, ByteBuffer body) {
    return new PageCipher(known, epoch)
        .decrypt(page, body.duplicate(), ByteBuffer.allocate(PAGE_BYTES));
  }

  @Test
  void filesHoldNoPlainBytesAndNoKey() throws IOException {
    try (DiskStore store = open(keys)) {
      write(store, first);
      assertThat(read(store, first)).isEqualTo(10);
    }
    assertThat(holds(directory, first)).isFalse();
    try (DiskStore store = open(new TenantKeys())) {
      assertThat(read(store, first)).isZero();
      assertThat(store.stats().misses()).isEqualTo(Map.of(MissReason.KEY, 1L));
    }
  }

  @Test
  void theNextProcessReadsPagesWithTheKeysOfTheCheckpoint() throws IOException {
    try (DiskStore store = open(keys)) {
      write(store, first);
      write(store, second);
    }
    TenantKeys restored = new TenantKeys();
    keys.toSave(0, 1).forEach(restored::add);
    try (DiskStore store = open(restored)) {
      assertThat(read(store, first)).isEqualTo(10);
      assertThat(read(store, second)).isEqualTo(10);
    }
  }

  @Test
  void aTaskManagerThatWasAwayCannotReadPagesOfATenantErasedMeanwhile() throws IOException {
    try (DiskStore store = open(keys)) {
      write(store, first);
      write(store, second);
    }
    keys.deleteAll(1);
    TenantKeys restored = new TenantKeys();
    keys.toSave(0, 1).forEach(restored::add);
    try (DiskStore back = open(restored)) {
      assertThat(back.find(first.ids(), 0, 10)).as("its bytes are there").isEqualTo(10);
      assertThat(read(back, first)).isZero();
      assertThat(read(back, second)).isEqualTo(10);
    }
  }

  @Test
  void anErasedTenantsPagesAreMissesAndNewOnesAreKept() throws Exception {
    try (DiskStore store = open(keys)) {
      write(store, first);
      write(store, second);
      store.removeTenant(1);

      assertThat(read(store, first)).isZero();
      assertThat(read(store, second)).isEqualTo(10);
      write(store, first);
      assertThat(read(store, first)).isEqualTo(10);
    }
  }

  @Test
  void aKeyThatAnotherEngineDrewIsUsedUntilItIsDeletedThereAndThenNeverAgain() {
    TenantKeys other = new TenantKeys();
    List<TenantKeys.Key> drawn = new ArrayList<>();
    keys.whenDrawn(drawn::add);
    ByteBuffer body = encrypt(0);
    TierPage page = first.pages()[0];

    other.add(drawn.get(0));
    assertThat(decrypts(other, page, 7, body)).isTrue();
    keys.deleteAll(1);
    assertThat(keys.deleted(1)).containsExactly(drawn.get(0).id());
    keys.deleted(1).forEach(other::delete);
    other.add(drawn.get(0));
    assertThat(decrypts(other, page, 7, body)).isFalse();
    assertThat(drawn).hasSize(1);
  }

  @Test
  void aKeyThatComesAfterItsDeletionIsRefused() {
    TenantKeys other = new TenantKeys();
    keys.whenDrawn(other::add);
    ByteBuffer body = encrypt(0);
    keys.deleteAll(1);
    keys.whenDrawn(
        key -> {
          other.delete(key.id());
          other.add(key);
        });
    ByteBuffer later = encrypt(0);

    TierPage page = first.pages()[0];
    assertThat(decrypts(other, page, 7, body)).as("deleted in one engine only").isTrue();
    assertThat(decrypts(other, page, 7, later)).isFalse();
    assertThat(decrypts(keys, page, 7, later)).isTrue();
  }

  @Test
  void allSubtasksTogetherSaveAllKeys() {
    List<TenantKeys.Key> all = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      all.add(new TenantKeys.Key(i - 10, i, new byte[32]));
    }
    TenantKeys restored = new TenantKeys();
    all.forEach(restored::add);
    Set<Long> saved = new HashSet<>();
    for (int subtask = 0; subtask < 3; subtask++) {
      for (TenantKeys.Key key : restored.toSave(subtask, 3)) {
        assertThat(saved.add(key.id())).isTrue();
      }
    }
    assertThat(saved).hasSize(20);
  }

  @Test
  void aPageDoesNotDecryptAsAnother() {
    TierPage page = first.pages()[3];
    ByteBuffer body = encrypt(3);

    assertThat(decrypts(keys, page, 7, body)).isTrue();
    assertThat(decrypts(keys, page, 8, body)).isFalse();
    TierPage renamed = new TierPage(first.ids()[4], page.parent(), page.namespace(), 1);
    assertThat(decrypts(keys, renamed, 7, body)).isFalse();
    TierPage elsewhere = new TierPage(page.id(), page.parent(), "", 1);
    assertThat(decrypts(keys, elsewhere, 7, body)).isFalse();
    TierPage others = new TierPage(page.id(), page.parent(), page.namespace(), 2);
    assertThat(decrypts(keys, others, 7, body)).isFalse();
  }

  @Test
  void noNonceIsUsedTwice() {
    Set<ByteBuffer> nonces = new HashSet<>();
    for (int i = 0; i < 1000; i++) {
      byte[] nonce = new byte[12];
      encrypt(0).get(Long.BYTES, nonce);
      assertThat(nonces.add(ByteBuffer.wrap(nonce))).isTrue();
    }
  }

  @Test
  void toStringOfAKeyHidesItsSecret() {
    TenantKeys.Key key = new TenantKeys.Key(1, 2, new byte[32]);
    assertThat(key).hasToString("key 0000000000000001 of tenant 0000000000000002");
  }
}
