package io.radixflow.engine.cache.key;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret from which the names of namespaces are derived. It is equal on all TaskManagers, so
 * that a conversation finds its pages on every TaskManager. Without the secret, a namespace does
 * not reveal its tenant. The secret is never shown.
 */
@PublicApi
public final class NamespaceKey implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String ALGORITHM = "HmacSHA256";
  private static final String DOMAIN = "radixflow/namespace/1";
  private static final String TENANT_DOMAIN = "radixflow/tenant/1";
  private static final int RANDOM_BYTES = 32;

  /** The namespace whose pages all tenants may use. */
  public static final String PUBLIC = "";

  private final byte[] secret;

  private NamespaceKey(byte[] secret) {
    this.secret = secret;
  }

  /**
   * Creates a key from a configured secret.
   *
   * @throws IllegalArgumentException if the secret is blank
   */
  public static NamespaceKey of(String secret) {
    if (secret.isBlank()) {
      throw new IllegalArgumentException("the namespace key is empty");
    }
    return new NamespaceKey(secret.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a random key; share this object where an equal key is needed. */
  public static NamespaceKey random() {
    byte[] secret = new byte[RANDOM_BYTES];
    new SecureRandom().nextBytes(secret);
    return new NamespaceKey(secret);
  }

  /**
   * Returns the namespace of a tenant's pages: the HMAC-SHA256 over a domain tag, tenant, salt and
   * adapter, each framed by its length, in 64 lower-case hexadecimal digits. The namespace is
   * {@link #PUBLIC} if all three are empty, because all tenants share pages without a tenant.
   *
   * @param tenant owner of the conversation
   * @param salt separates a tenant's pages further
   * @param adapter the adapter, which changes the model's weights and so the content of the pages
   */
  public String namespace(String tenant, String salt, String adapter) {
    if (tenant.isEmpty() && salt.isEmpty() && adapter.isEmpty()) {
      return PUBLIC;
    }
    return HexFormat.of().formatHex(mac(Framing.of(DOMAIN, tenant, salt, adapter)));
  }

  /**
   * Returns a tag that identifies a tenant in lower tiers without naming it: the first 8 bytes, big
   * endian, of the HMAC-SHA256 over another domain tag and the tenant, each framed by its length.
   */
  public long tenantTag(String tenant) {
    return ByteBuffer.wrap(mac(Framing.of(TENANT_DOMAIN, tenant))).getLong();
  }

  private byte[] mac(byte[] message) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the JDK has no " + ALGORITHM, e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NamespaceKey key && Arrays.equals(secret, key.secret);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(secret);
  }

  /** Does not contain the secret. */
  @Override
  public String toString() {
    return "NamespaceKey";
  }
}
