package io.radixflow.lab.drill;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.config.CacheConfig;
import io.radixflow.jobs.config.DiskTierConfig;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.RemoteTierConfig;
import io.radixflow.jobs.config.TierConfig;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.MemorySize;

/**
 * Tiers so small that each of them evicts all the time: a device too small for the running turns,
 * even less host memory, a disk that reclaims space, and a folder that all TaskManagers reach.
 *
 * <p>The TaskManagers share one parent directory, because they run on one machine. A TaskManager
 * that takes over from a dead one also takes its pages.
 *
 * @param kvPages pages of the device's pool; at least a context window
 * @param contextLength tokens; the same without tiers, because it decides the contents of prompts
 * @param host host memory of each TaskManager
 * @param disk disk space of each TaskManager
 */
record DrillTiers(int kvPages, int contextLength, MemorySize host, MemorySize disk) {
  /** The fewest tokens to load instead of computing them: one page. */
  private static final int PAGE = 16;

  private static final Duration UPLOAD_AFTER = Duration.ofSeconds(1);

  /** Tiers for the simulated model, whose pages have 128 bytes. */
  static final DrillTiers SIMULATED =
      new DrillTiers(256, 4096, MemorySize.parse("16kb"), MemorySize.parse("4mb"));

  /** Tiers for a model with pages of about 1 MB, and short conversations. */
  static final DrillTiers REAL =
      new DrillTiers(48, 768, MemorySize.parse("24mb"), MemorySize.parse("128mb"));

  static Path disks(Path directory) {
    return directory.resolve("pages");
  }

  /** Returns the folder of a drill's remote tier, which all TaskManagers reach. */
  static Path remote(Path directory) {
    return directory.resolve("remote-pages");
  }

  /** Returns settings on which replies depend; the undisturbed run also needs them. */
  Settings shape(Settings settings) {
    return settings.with(SharedConfig.CONTEXT_LENGTH, contextLength);
  }

  /**
   * Returns settings with the tiers.
   *
   * @param directory directory of the disk tier and the folder
   */
  Settings on(Settings settings, Path directory) {
    return settings
        .with(RadixflowOptions.KV_PAGES, kvPages)
        .with(CacheConfig.NAMESPACE_KEY, "drill")
        .with(TierConfig.HOST_MEMORY, host)
        .with(TierConfig.LOAD_BACK_THRESHOLD, PAGE)
        .with(TierConfig.PREFETCH_THRESHOLD, PAGE)
        .with(DiskTierConfig.SIZE, disk)
        .with(DiskTierConfig.DIRECTORY, disks(directory).toString())
        .with(DiskTierConfig.MIN_FREE, MemorySize.ZERO)
        .with(RemoteTierConfig.DIRECTORY, remote(directory).toUri().toString())
        .with(RemoteTierConfig.UPLOAD_AFTER, UPLOAD_AFTER);
  }
}
