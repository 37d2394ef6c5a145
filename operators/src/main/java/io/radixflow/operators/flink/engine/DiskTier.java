package io.radixflow.operators.flink.engine;

import io.radixflow.operators.NamespaceKey;
import io.radixflow.operators.PublicApi;
import io.radixflow.operators.tier.disk.DiskStore;
import io.radixflow.operators.tier.disk.DiskStoreOptions;
import io.radixflow.operators.tier.disk.TierHome;
import io.radixflow.operators.tier.store.PageStore;
import io.radixflow.operators.tier.store.TenantKeys;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;

/**
 * The disk below an engine's host memory, as the job configures it.
 *
 * @param limitBytes what its files may have; 0 for no disk tier
 * @param directory where the homes of engines are; null for the TaskManager's working directory
 * @param minFreeBytes what is left free on the file system for others
 * @param tenants what tells tenants apart in the store
 */
@PublicApi
public record DiskTier(long limitBytes, String directory, long minFreeBytes, NamespaceKey tenants)
    implements Serializable {
  /** No disk tier. */
  public static final DiskTier NONE = new DiskTier(0, null, 0, null);

  public DiskTier {
    if (limitBytes < 0 || minFreeBytes < 0) {
      throw new IllegalArgumentException(
          "disk tier of " + limitBytes + " bytes, " + minFreeBytes + " kept free");
    }
    if (limitBytes > 0) {
      DiskStoreOptions.of("", limitBytes);
    }
  }

  boolean enabled() {
    return limitBytes > 0;
  }

  /** With another size. */
  DiskTier sized(long bytes) {
    return new DiskTier(bytes, directory, minFreeBytes, tenants);
  }

  /** Why a disk cannot have a size; null if it can. */
  String refusal(long bytes, int pageBytes) {
    long least = DiskStoreOptions.leastBytes(pageBytes);
    return bytes >= least
        ? null
        : "the disk must have at least %d bytes; give it a size such as 20gb".formatted(least);
  }

  /**
   * Claims the engine's home.
   *
   * @param kind tells which engines can use each other's pages
   * @throws IOException if there is none
   */
  TierHome claim(EngineDirectory home, String kind) throws IOException {
    Path root = directory == null ? home.tiers() : Path.of(directory);
    if (root == null) {
      throw new IOException(
          "the TaskManager has no working directory; start the job with tiers.disk-directory");
    }
    return TierHome.claim(root, kind, home.restored());
  }

  /**
   * Opens the store in a home.
   *
   * @throws IOException if that cannot be done
   */
  PageStore open(TierHome tiers, String numericsEpoch, int pageBytes, TenantKeys keys)
      throws IOException {
    DiskStoreOptions options =
        DiskStoreOptions.of(tiers.directory().toString(), limitBytes)
            .withMinFreeBytes(minFreeBytes);
    return DiskStore.open(options, numericsEpoch, pageBytes, keys);
  }
}
