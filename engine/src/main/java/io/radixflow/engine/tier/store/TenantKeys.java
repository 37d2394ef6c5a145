package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.TierPage;
import java.io.Serializable;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;

/**
 * The keys under which an engine's pages are encrypted below host memory, at least one key per
 * tenant that has pages. {@link PageCipher} encrypts with them.
 *
 * <p><b>Where a key is.</b> The first engine that stores a page of a tenant draws a key at random.
 * The key is in the memory of the job's engines, which pass it on to each other, and in the job's
 * checkpoints. It is never on the disk of a TaskManager or in the remote folder. So {@link
 * #deleteAll} in all engines makes a tenant's pages in any tier unreadable. A TaskManager that was
 * away has pages but no key, and gets keys only from the checkpoint from which the job is restored.
 * If that checkpoint is later than the erasure, it has no key of the tenant. If it is earlier, the
 * job reads the control event again and deletes the key again. A key that was drawn after the last
 * checkpoint before a crash is lost, and the pages encrypted under it are misses.
 *
 * <p>Thread-safe. No key is ever logged.
 */
public final class TenantKeys {
  private static final int KEY_BYTES = 32;
  private static final int MAX_DELETED = 100_000;

  /** A key that this engine has. */
  record Known(long id, long tenant, SecretKey secret, boolean drawnHere) {}

  private final SecureRandom random = new SecureRandom();
  private final Map<Long, Known> byId = new HashMap<>();

  /** The key under which each tenant's pages are written. */
  private final Map<Long, Known> current = new HashMap<>();

  /** The ids of the keys deleted last, which are never accepted again, with their tenants. */
  private final Map<Long, Long> deleted =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
          return size() > MAX_DELETED;
        }
      };

  private Consumer<Key> listener = key -> {};

  /**
   * A key as engines pass it on and checkpoints keep it.
   *
   * @param id a random number that names the key
   * @param tenant the tenant whose pages the key encrypts; see {@link TierPage#tenant}
   * @param secret the key's 32 bytes; must not be changed
   */
  public record Key(long id, long tenant, byte[] secret) implements Serializable {
    @Override
    public String toString() {
      return "key %016x of tenant %016x".formatted(id, tenant);
    }
  }

  /** Sets the task that receives each key drawn here from now on, on the thread that draws it. */
  public synchronized void whenDrawn(Consumer<Key> task) {
    listener = task;
  }

  /** Adds a key from a checkpoint or from another engine, unless the key was deleted here. */
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
   * Returns the keys that a subtask's checkpoint has to keep: the keys drawn here, and the
   * subtask's share of the other keys, so that all subtasks together keep all keys.
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

  /** Deletes a tenant's keys: pages written under them are unreadable from now on. */
  public synchronized void deleteAll(long tenant) {
    for (Known known : List.copyOf(byId.values())) {
      if (known.tenant == tenant) {
        delete(known.id);
      }
    }
  }

  /** Deletes a key, or refuses it if it arrives later. */
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

  /** Returns the key for a tenant's new pages; draws one if there is none. */
  Known forWriting(long tenant) {
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

  /** Returns a key, or null if it is unknown. */
  synchronized Known get(long id) {
    return byId.get(id);
  }
}
