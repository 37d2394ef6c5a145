package io.radixflow.operators.session;

/** The namespace of the radix cache that a session's pages lie in. */
public final class CacheNamespace {
  private CacheNamespace() {}

  /**
   * A keyed hash of owner and salt, so that tenants share no page and the name tells nothing; the
   * public namespace, an empty name, for the default tenant without a salt.
   *
   * @param key equal on all TaskManagers
   */
  public static String of(String key, String tenant, String cacheSalt) {
    return tenant.isEmpty() && cacheSalt.isEmpty()
        ? ""
        : StableHash.keyedHex(key, tenant, cacheSalt, "");
  }
}
