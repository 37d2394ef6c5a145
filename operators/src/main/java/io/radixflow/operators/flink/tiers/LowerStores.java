package io.radixflow.operators.flink.tiers;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.tier.disk.DiskDirectory;
import io.radixflow.engine.tier.disk.DiskStore;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.RemoteStore;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.engine.tier.remote.StoreStack;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.session.RefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Opens the stores below an engine's host memory: a disk and a remote file system; either may be
 * missing. Owns the engine's directory on the disk and the keys of its pages. Only one thread at a
 * time may open stores; any thread may call the other methods.
 */
final class LowerStores implements AutoCloseable {
  private final DiskTierOptions disk;
  private final RemoteTierOptions remote;
  private final EngineDirectory directory;
  private final String kind;
  private final TenantKeys keys = new TenantKeys();
  private String epoch;
  private volatile PageSizes sizes = PageSizes.of(0);
  private volatile DiskDirectory claimed;

  /**
   * @param directory the directory, which may have files of a previous engine
   * @param kind names the engines that may take over each other's disks
   */
  LowerStores(
      DiskTierOptions disk, RemoteTierOptions remote, EngineDirectory directory, String kind) {
    this.disk = disk;
    this.remote = remote;
    this.directory = directory;
    this.kind = kind;
  }

  /** Sets the engine's pages, before a store is opened. */
  void setPages(String numericsEpoch, PageSizes pages) {
    epoch = numericsEpoch;
    sizes = pages;
  }

  DiskTierOptions disk() {
    return disk;
  }

  RemoteTierOptions remote() {
    return remote;
  }

  TenantKeys keys() {
    return keys;
  }

  /** Returns the key that distinguishes tenants; null without a store. */
  NamespaceKey tenants() {
    return disk.tenants() == null ? remote.tenants() : disk.tenants();
  }

  /** Returns the bytes of a page with its window part; 0 before the engine is open. */
  int pageBytes() {
    return sizes.page() + sizes.window();
  }

  /** Returns the id of the engine's directory on the disk; null before it is claimed. */
  String diskId() {
    DiskDirectory now = claimed;
    return now == null ? null : now.engine();
  }

  /**
   * Opens the disk, for which it claims a directory the first time.
   *
   * @throws RefusedException if the disk cannot be opened now
   * @throws RuntimeException if an option is invalid
   */
  PageStore openDisk(long bytes) throws RefusedException {
    try {
      if (claimed == null) {
        claimed = claim();
      }
      return DiskStore.open(claimed.pages(), disk.withLimitBytes(bytes), epoch, sizes, keys);
    } catch (IOException | UncheckedIOException e) {
      throw new RefusedException("it cannot be opened: " + e);
    }
  }

  private DiskDirectory claim() throws IOException {
    Path root = disk.directory() == null ? directory.tiers() : Path.of(disk.directory());
    if (root == null) {
      throw new IOException(
          "the TaskManager has no working directory; start the job with tiers.disk-directory");
    }
    Duration retention = Duration.ofMillis(disk.retentionMillis());
    return DiskDirectory.claim(root, kind, directory.restored(), retention);
  }

  /**
   * Opens the remote store; returns null if there is none.
   *
   * @throws IllegalArgumentException if no file system supports the scheme of its URI
   */
  RemoteStore openRemote() {
    return remote.enabled()
        ? RemoteStore.open(remote, epoch, sizes, FlinkRemoteFiles.open(remote.uri()), keys)
        : null;
  }

  /** Returns the disk with the remote store below it; either may be null. */
  PageStore stack(PageStore opened, RemoteStore below) {
    return StoreStack.of(opened, below, sizes, remote.uploadMillis());
  }

  /** Releases the directory on the disk. */
  @Override
  public void close() {
    if (claimed != null) {
      claimed.close();
    }
  }
}
