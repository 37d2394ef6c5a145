package io.radixflow.operators.flink.engine;

import io.radixflow.operators.NamespaceKey;
import io.radixflow.operators.PublicApi;
import io.radixflow.operators.tier.remote.RemoteStore;
import io.radixflow.operators.tier.remote.RemoteStoreOptions;
import io.radixflow.operators.tier.store.TenantKeys;
import java.io.Serializable;

/**
 * The remote file system below an engine's host memory and disk, as the job configures it. A
 * setting that cannot be right fails the job; a file system that does not answer costs its pages
 * only.
 *
 * @param options where it is and how it is used; null for no remote tier
 * @param uploadMillis how long after it was written on disk a page is uploaded
 * @param tenants what tells tenants apart in the store
 */
@PublicApi
public record RemoteTier(RemoteStoreOptions options, long uploadMillis, NamespaceKey tenants)
    implements Serializable {

  /** No remote tier. */
  public static final RemoteTier NONE = new RemoteTier(null, 0, null);

  public RemoteTier {
    if (uploadMillis < 0) {
      throw new IllegalArgumentException("pages are uploaded after " + uploadMillis + " ms");
    }
  }

  boolean enabled() {
    return options != null;
  }

  /**
   * Opens the store; null if there is none.
   *
   * @param keys that pages are encrypted under
   * @throws IllegalArgumentException if nothing serves the place
   */
  RemoteStore open(String numericsEpoch, int pageBytes, TenantKeys keys) {
    return enabled()
        ? RemoteStore.open(
            options, numericsEpoch, pageBytes, FlinkRemoteFiles.open(options.uri()), keys)
        : null;
  }
}
