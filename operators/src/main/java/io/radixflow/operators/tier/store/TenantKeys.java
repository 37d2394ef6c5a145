package io.radixflow.operators.tier.store;

import io.radixflow.operators.tier.page.TierPage;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The keys under which an engine's pages are encrypted below host memory, at least one for each
 * tenant that has pages, and the encryption itself (AES-256-GCM).
 *
 * <p><b>Where a key is.</b> The first engine that stores a page of a tenant draws a key at random.
 * It is in the memory of the job's engines, which pass it on to each other, and in the job's
 * checkpoints; on the disk of a TaskManager, or in the remote folder, it is not. So {@link
 * #deleteAll} in all engines makes what a tenant has in any tier unreadable. A TaskManager that was
 * away has pages, but no key, and gets keys only with the checkpoint from which the job is
 * restored. That checkpoint is either later than the erasure, and has no key of the tenant, or
 * earlier; then the job reads the control event again and deletes the key again. A key that was
 * drawn after the last checkpoint before a crash is lost, and the pages under it are misses.
 *
 * <p><b>A stored page</b> has 8 bytes that name the key, 12 bytes of nonce, the ciphertext, and 16
 * bytes of tag. Digest, parent, tenant, namespace and numerics epoch are associated data, so that
 * no page can be passed off as another. Nonces are 96 random bits: after 2^32 pages of a key, one
 * would have been used twice with a chance of 2^-33.
 *
 * <p>Safe for several threads. No key is ever logged.
 */
public final class TenantKeys {
  /** Bytes that encryption adds to a page. */
  static final int OVERHEAD = 36;

  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;
  private static final int KEY_BYTES = 32;

  /** A key; two are equal if their names are. */
  private record Known(long id, long tenant, SecretKey secret, boolean drawnHere) {}

  private final SecureRandom random = new SecureRandom();
  private final Map<Long, Known> byId = new HashMap<>();

  /** The key that a tenant's pages are written under. */
  private final Map<Long, Known> current = new HashMap<>();

  /** The ids of deleted keys, which are never accepted again, with their tenants. */
  private final Map<Long, Long> deleted = new HashMap<>();

  private Consumer<Key> listener = key -> {};

  /**
   * A key as engines pass it on and checkpoints keep it.
   *
   * @param id names the key, a random number
   * @param tenant whose pages it encrypts; see {@link TierPage#tenant}
   * @param secret its 32 bytes; not to be changed
   */
  public record Key(long id, long tenant, byte[] secret) implements Serializable {
    @Override
    public String toString() {
      return "key %016x of tenant %016x".formatted(id, tenant);
    }
  }

  /** Has a task get each key that is drawn here from now on, on the thread that draws it. */
  public synchronized void whenDrawn(Consumer<Key> task) {
    listener = task;
  }

  /** Adds a key of a checkpoint, or that another engine has drawn, unless it was deleted here. */
  public synchronized void add(Key key) {
    if (key.secret().length == KEY_BYTES
        && !byId.containsKey(key.id())
        && !deleted.containsKey(key.id())) {
      put(new Known(key.id(), key.tenant(), new SecretKeySpec(key.secret(), "AES"), false));
    }
  }

  private void put(Known known) {
    byId.put(known.id, known);
    current.putIfAbsent(known.tenant, known);
  }

  /**
   * Returns the keys that a subtask's checkpoint has to keep: those drawn here, and of the others
   * the subtask's share, so that all subtasks together keep all.
   */
  public synchronized List<Key> toSave(int subtask, int subtasks) {
    List<Key> keys = new ArrayList<>();
    for (Known known : byId.values()) {
      if (known.drawnHere || Math.floorMod(known.id, subtasks) == subtask) {
        keys.add(new Key(known.id, known.tenant, known.secret.getEncoded()));
      }
    }
    return keys;
  }

  /** Deletes a tenant's keys: what was written under them is unreadable from now on. */
  public synchronized void deleteAll(long tenant) {
    for (Known known : List.copyOf(byId.values())) {
      if (known.tenant == tenant) {
        delete(known.id);
      }
    }
  }

  /** Deletes a key, or refuses it if it comes later. */
  public synchronized void delete(long id) {
    Known known = byId.remove(id);
    if (known == null) {
      deleted.putIfAbsent(id, 0L);
    } else {
      current.remove(known.tenant, known);
      deleted.put(id, known.tenant);
    }
  }

  /** Returns the ids of a tenant's keys that were deleted here. */
  public synchronized List<Long> deleted(long tenant) {
    return deleted.keySet().stream().filter(id -> deleted.get(id) == tenant).toList();
  }

  private Known forWriting(long tenant) {
    Known drawn;
    Consumer<Key> task;
    synchronized (this) {
      Known known = current.get(tenant);
      if (known != null) {
        return known;
      }
      byte[] secret = new byte[KEY_BYTES];
      random.nextBytes(secret);
      drawn = new Known(random.nextLong(), tenant, new SecretKeySpec(secret, "AES"), true);
      put(drawn);
      task = listener;
    }
    task.accept(new Key(drawn.id, tenant, drawn.secret.getEncoded()));
    return drawn;
  }

  private synchronized Known get(long id) {
    return byId.get(id);
  }

  /**
   * Encrypts a page.
   *
   * @param epoch hash of the numerics epoch
   * @param out gets the result at its position; has room for {@link #OVERHEAD} bytes more than the
   *     page
   */
  void encrypt(TierPage page, long epoch, ByteBuffer bytes, ByteBuffer out) {
    Known known = forWriting(page.tenant());
    byte[] nonce = new byte[NONCE];
    random.nextBytes(nonce);
    out.putLong(known.id).put(nonce);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, known.secret, nonce);
      cipher.updateAAD(associated(page, epoch));
      cipher.doFinal(bytes.duplicate(), out);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a page was not encrypted", e);
    }
  }

  /**
   * Decrypts a page.
   *
   * @param epoch hash of the numerics epoch
   * @param out gets the page; must have exactly its size left
   * @return false if its key is not known, or it is another page
   */
  boolean decrypt(TierPage page, long epoch, ByteBuffer body, ByteBuffer out) {
    if (body.remaining() != out.remaining() + OVERHEAD) {
      return false;
    }
    Known known = get(body.getLong(body.position()));
    if (known == null || known.tenant != page.tenant()) {
      return false;
    }
    byte[] nonce = new byte[NONCE];
    body.get(body.position() + Long.BYTES, nonce);
    int from = Long.BYTES + NONCE;
    try {
      Cipher cipher = cipher(Cipher.DECRYPT_MODE, known.secret, nonce);
      cipher.updateAAD(associated(page, epoch));
      cipher.doFinal(body.slice(body.position() + from, body.remaining() - from), out.slice());
      return true;
    } catch (AEADBadTagException e) {
      return false;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a page was not decrypted", e);
    }
  }

  private static Cipher cipher(int mode, SecretKey key, byte[] nonce)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    return cipher;
  }

  private static byte[] associated(TierPage page, long epoch) {
    byte[] namespace = page.namespace().getBytes(StandardCharsets.UTF_8);
    byte[] digests = new byte[8 * Long.BYTES];
    page.id().copyTo(digests, 0);
    if (page.parent() != null) {
      page.parent().copyTo(digests, 4 * Long.BYTES);
    }
    return ByteBuffer.allocate(digests.length + 2 * Long.BYTES + namespace.length)
        .put(digests)
        .putLong(page.tenant())
        .putLong(epoch)
        .put(namespace)
        .array();
  }
}
