package io.radixflow.operators.tier.store;

import io.radixflow.operators.tier.page.PageId;
import io.radixflow.operators.tier.page.TierPage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Encrypts pages with AES-256-GCM, each tenant's under a key of its own, drawn at random when the
 * tenant's first page is written. Processes that share key files and write a tenant's first page at
 * the same moment may each draw one: all of them stay, and a page is under any of them. A process
 * that does not know a page's key looks for new ones, at most once a second for a tenant.
 *
 * <p>A tenant's key lies under the name {@code <tenant>.key}: 12 bytes of nonce and the key,
 * encrypted with AES-256-GCM under HMAC-SHA256(master key, a domain tag), with the tenant as
 * associated data. The master key comes by configuration, as a file with 64 hexadecimal digits, and
 * is never written. Deleting a tenant's files destroys what was written under it, wherever copies
 * of the pages lie. With another master key all pages are missed, and none of these tenants' are
 * stored.
 *
 * <p>An encrypted body is 12 bytes of nonce, the page's ciphertext, 16 bytes of tag. Associated
 * data are digest, parent, tenant, namespace and epoch, so that no page can be passed off as
 * another. Nonces are 96 random bits: after 2^32 pages of a tenant, one would have been used twice
 * with a chance of 2^-33.
 *
 * <p>Safe for several threads. No key is ever logged or shown.
 */
public final class TenantKeys {
  /** Bytes that encryption adds to a page. */
  public static final int OVERHEAD = 28;

  /** Milliseconds that only grow. */
  public static final LongSupplier CLOCK = () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime());

  private static final Logger LOG = LoggerFactory.getLogger(TenantKeys.class);
  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;
  private static final int KEY_BYTES = 32;
  private static final int FILE_BYTES = NONCE + KEY_BYTES + TAG_BITS / 8;
  private static final int MAX_MASTER_FILE = 1024;
  private static final long LOOK_MILLIS = 1_000;
  private static final String DOMAIN = "radixflow/tier-keys/1";
  private static final PageId NONE = new PageId(0, 0, 0, 0);

  private final KeyFiles files;
  private final byte[] epoch;
  private final SecretKey master;
  private final SecureRandom random = new SecureRandom();
  private final ConcurrentHashMap<Long, Known> keys = new ConcurrentHashMap<>();
  private final LongSupplier clock;
  private volatile boolean warned;

  /**
   * A tenant's keys.
   *
   * @param all at least one; pages are written under the first
   * @param nextLook when one may look for others again, by the clock
   */
  private record Known(List<SecretKey> all, long nextLook) {}

  private TenantKeys(KeyFiles files, byte[] epoch, SecretKey master, LongSupplier clock) {
    this.files = files;
    this.epoch = epoch;
    this.master = master;
    this.clock = clock;
  }

  /**
   * Reads the master key.
   *
   * @param files of the tenants' keys
   * @param clock milliseconds that only grow
   * @throws IllegalArgumentException if the file does not hold 64 hexadecimal digits
   */
  public static TenantKeys open(Path keyFile, KeyFiles files, String epoch, LongSupplier clock)
      throws IOException {
    if (Files.size(keyFile) > MAX_MASTER_FILE) {
      throw notAKey(keyFile);
    }
    byte[] secret;
    try {
      String digits = Files.readString(keyFile, StandardCharsets.ISO_8859_1).strip();
      secret = HexFormat.of().parseHex(digits);
    } catch (IllegalArgumentException e) {
      throw notAKey(keyFile);
    }
    if (secret.length != KEY_BYTES) {
      throw notAKey(keyFile);
    }
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret, "HmacSHA256"));
      byte[] wrapping = mac.doFinal(DOMAIN.getBytes(StandardCharsets.UTF_8));
      SecretKey wrap = new SecretKeySpec(wrapping, "AES");
      return new TenantKeys(files, epoch.getBytes(StandardCharsets.UTF_8), wrap, clock);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no HmacSHA256", e);
    } finally {
      Arrays.fill(secret, (byte) 0);
    }
  }

  private static IllegalArgumentException notAKey(Path file) {
    return new IllegalArgumentException(
        file + " holds no key: 64 hexadecimal digits, as of `openssl rand -hex 32`");
  }

  /**
   * Encrypts a page.
   *
   * @param out gets the body; has room for {@link #OVERHEAD} more bytes than the page, or for more
   * @throws IOException if the tenant's key cannot be read, or is new and cannot be written down
   */
  public void encrypt(TierPage page, ByteBuffer bytes, ByteBuffer out) throws IOException {
    Known known = keys.get(page.tenant());
    if (known == null) {
      known = keysForWriting(page.tenant());
    }
    byte[] nonce = new byte[NONCE];
    random.nextBytes(nonce);
    out.put(nonce);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, known.all().get(0), nonce);
      cipher.updateAAD(associated(page));
      cipher.doFinal(bytes.duplicate(), out);

    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a page was not encrypted", e);
    }
  }

  /**
   * Decrypts a page.
   *
   * @param out gets the page; must have exactly its size left
   * @return false if it was encrypted under another key, or is another page
   */
  public boolean decrypt(TierPage page, ByteBuffer body, ByteBuffer out) {
    if (body.remaining() != out.remaining() + OVERHEAD) {
      return false;
    }
    Known known = known(page.tenant());
    return known != null
        && (decrypt(page, body, out, known.all())
            || decrypt(page, body, out, others(page.tenant(), known)));
  }

  private boolean decrypt(TierPage page, ByteBuffer body, ByteBuffer out, List<SecretKey> tried) {
    byte[] nonce = new byte[NONCE];
    body.get(body.position(), nonce);
    for (SecretKey key : tried) {
      try {
        Cipher cipher = cipher(Cipher.DECRYPT_MODE, key, nonce);
        cipher.updateAAD(associated(page));
        cipher.doFinal(body.slice(body.position() + NONCE, body.remaining() - NONCE), out.slice());
        return true;
      } catch (AEADBadTagException e) {
        // under another key, or another page
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("a page was not decrypted", e);
      }
    }
    return false;
  }

  private static Cipher cipher(int mode, SecretKey key, byte[] nonce)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    return cipher;
  }

  private byte[] associated(TierPage page) {
    byte[] namespace = page.namespace().getBytes(StandardCharsets.UTF_8);
    int size = 2 * 32 + Long.BYTES + Integer.BYTES + namespace.length + epoch.length;
    ByteBuffer out = ByteBuffer.allocate(size);
    put(out, page.id());
    put(out, page.parent() == null ? NONE : page.parent());
    out.putLong(page.tenant()).putInt(namespace.length).put(namespace).put(epoch);
    return out.array();
  }

  private static void put(ByteBuffer out, PageId id) {
    out.putLong(id.a()).putLong(id.b()).putLong(id.c()).putLong(id.d());
  }

  /** A tenant's keys, or null. */
  private Known known(long tenant) {
    Known known = keys.get(tenant);
    if (known != null) {
      return known;
    }
    try {
      return readKeys(tenant, clock.getAsLong());
    } catch (IOException e) {
      warn(e);
      return null;
    }
  }

  /** The keys that have been found since those {@code tried}; one looks for them if it is time. */
  private synchronized List<SecretKey> others(long tenant, Known tried) {
    Known known = keys.get(tenant);
    long now = clock.getAsLong();
    if (known == tried && now >= tried.nextLook()) {
      try {
        known = readKeys(tenant, now + LOOK_MILLIS);
        if (known == null) {
          // erased by another process
          keys.remove(tenant);
        }
      } catch (IOException e) {
        warn(e);
        keys.put(tenant, new Known(tried.all(), now + LOOK_MILLIS));
      }
    }
    if (known == null) {
      return List.of();
    }
    return known.all().stream().filter(key -> !tried.all().contains(key)).toList();
  }

  private Known keysForWriting(long tenant) throws IOException {
    try {
      return makeKey(tenant);
    } catch (IOException e) {
      warn(e);
      throw e;
    }
  }

  private void warn(IOException e) {
    if (!warned) {
      LOG.warn("Pages of some tenants are neither read nor stored: {}", e.getMessage());
    }
    warned = true;
  }

  /**
   * Null if there is none.
   *
   * @param nextLook when one may look for others
   * @throws IOException if there may be one, but it cannot be read
   */
  private synchronized Known readKeys(long tenant, long nextLook) throws IOException {
    List<byte[]> wrapped;
    try {
      wrapped = files.read(name(tenant));
    } catch (IOException e) {
      throw new IOException("the key file " + name(tenant) + " cannot be read: " + e, e);
    }
    List<SecretKey> found = new ArrayList<>();
    for (byte[] file : wrapped) {
      // zeros: destroyed by a process that died before it had deleted the file
      if (!Arrays.equals(file, new byte[file.length])) {
        found.add(unwrap(tenant, file));
      }
    }
    if (found.isEmpty()) {
      return null;
    }
    Known known = new Known(List.copyOf(found), nextLook);
    keys.put(tenant, known);
    return known;
  }

  private SecretKey unwrap(long tenant, byte[] file) throws IOException {
    try {
      if (file.length != FILE_BYTES) {
        throw new AEADBadTagException(file.length + " bytes");
      }
      Cipher cipher = cipher(Cipher.DECRYPT_MODE, master, Arrays.copyOf(file, NONCE));
      cipher.updateAAD(tenantBytes(tenant));
      return new SecretKeySpec(cipher.doFinal(file, NONCE, FILE_BYTES - NONCE), "AES");
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "the key file "
              + name(tenant)
              + " is damaged or was made under another master key: give that key again, or delete"
              + " the file, and with it what was stored",
          e);
    }
  }

  /** A tenant's keys, a new one if there is none. One that cannot be read is never replaced. */
  private synchronized Known makeKey(long tenant) throws IOException {
    Known found = readKeys(tenant, clock.getAsLong());
    if (found != null) {
      return found;
    }
    byte[] key = new byte[KEY_BYTES];
    random.nextBytes(key);
    byte[] nonce = new byte[NONCE];
    random.nextBytes(nonce);
    ByteBuffer file = ByteBuffer.allocate(FILE_BYTES).put(nonce);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, master, nonce);
      cipher.updateAAD(tenantBytes(tenant));
      cipher.doFinal(ByteBuffer.wrap(key), file);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a key was not encrypted", e);
    }
    files.write(name(tenant), file.array());
    // another process may have been first, where they share the files
    Known made = readKeys(tenant, clock.getAsLong());
    if (made == null) {
      throw new IOException("the key of a tenant's pages is not there once it was written");
    }
    return made;
  }

  private static byte[] tenantBytes(long tenant) {
    return ByteBuffer.allocate(Long.BYTES).putLong(tenant).array();
  }

  private static String name(long tenant) {
    return String.format("%016x.key", tenant);
  }

  /** Destroys a tenant's keys. */
  public synchronized void forget(long tenant) throws IOException {
    keys.remove(tenant);
    files.destroy(name(tenant));
  }

  /** Reads keys anew, or makes new ones, if they are needed again. */
  public synchronized void forgetAll() {
    keys.clear();
  }
}
