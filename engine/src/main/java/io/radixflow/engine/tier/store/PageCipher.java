package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.TierPage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;

/**
 * Encrypts pages below host memory with AES-256-GCM, each under its tenant's key.
 *
 * <p><b>An encrypted page</b> consists of 8 bytes that name the key, a nonce of 12 bytes, the
 * ciphertext, and a tag of 16 bytes. Digest, parent, tenant, namespace and numerics epoch are
 * associated data, so that no page can be passed off as another. Nonces are 96 random bits: after
 * 2^32 pages under one key, the probability that a nonce was used twice is 2^-33.
 *
 * <p>Thread-safe.
 */
final class PageCipher {
  /** Bytes that encryption adds to a page. */
  static final int OVERHEAD = 36;

  private static final int NONCE = 12;
  private static final int TAG_BITS = 128;

  private final SecureRandom random = new SecureRandom();
  private final TenantKeys keys;
  private final long epoch;

  /**
   * @param epoch hash of the numerics epoch
   */
  PageCipher(TenantKeys keys, long epoch) {
    this.keys = keys;
    this.epoch = epoch;
  }

  /**
   * Encrypts a page.
   *
   * @param out receives the result at its position; must have room for {@link #OVERHEAD} bytes more
   *     than the page
   */
  void encrypt(TierPage page, ByteBuffer bytes, ByteBuffer out) {
    TenantKeys.Known known = keys.forWriting(page.tenant());
    byte[] nonce = new byte[NONCE];
    random.nextBytes(nonce);
    out.putLong(known.id()).put(nonce);
    try {
      Cipher cipher = cipher(Cipher.ENCRYPT_MODE, known.secret(), nonce);
      cipher.updateAAD(associated(page));
      cipher.doFinal(bytes.duplicate(), out);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a page was not encrypted", e);
    }
  }

  /**
   * Decrypts a page.
   *
   * @param out receives the page; its remaining size must be exactly the page's
   * @return false if the page's key is unknown, or the bytes belong to another page
   */
  boolean decrypt(TierPage page, ByteBuffer body, ByteBuffer out) {
    if (body.remaining() != out.remaining() + OVERHEAD) {
      return false;
    }
    TenantKeys.Known known = keys.get(body.getLong(body.position()));
    if (known == null || known.tenant() != page.tenant()) {
      return false;
    }
    byte[] nonce = new byte[NONCE];
    body.get(body.position() + Long.BYTES, nonce);
    int from = Long.BYTES + NONCE;
    try {
      Cipher cipher = cipher(Cipher.DECRYPT_MODE, known.secret(), nonce);
      cipher.updateAAD(associated(page));
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

  private byte[] associated(TierPage page) {
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
