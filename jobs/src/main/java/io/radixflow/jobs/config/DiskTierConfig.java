package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.client.config.OptionGroup;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/** The options of the disk below an engine's host memory. */
public final class DiskTierConfig {

  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<MemorySize> SIZE =
      ALL.add(
              key("tiers.disk-size").memoryType().defaultValue(MemorySize.ZERO),
              "0, or a size of at least 4 mb such as 200gb",
              size -> size.getBytes() == 0 || size.getBytes() >= DiskTierOptions.MIN_BYTES)
          .describe(
              "Disk space of a TaskManager for KV pages. A TaskManager that is started with the"
                  + " same resource id finds the pages again. 0 for none; needs"
                  + " tiers.host-memory.");

  public static final ConfigOption<String> DIRECTORY =
      ALL.text("tiers.disk-directory", null)
          .describe(
              "Directory of the pages on disk; by default in the TaskManager's working directory.");

  public static final ConfigOption<MemorySize> MIN_FREE =
      ALL.size("tiers.disk-min-free", MemorySize.parse("1gb"), "a size such as 10gb")
          .describe(
              "Space of the file system that pages leave free, even if tiers.disk-size is not"
                  + " reached.");

  public static final ConfigOption<Duration> RETENTION =
      ALL.duration("tiers.disk-retention", DiskTierOptions.DEFAULT_RETENTION)
          .describe(
              "How long a page stays on the disk after its last write, and how long the pages of an"
                  + " engine that has ended stay for its successor.");

  private DiskTierConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /**
   * Checks that the disk tier has host memory above it.
   *
   * @throws SettingsException if host memory is not configured
   */
  static void check(Settings settings) {
    if (settings.get(SIZE).getBytes() > 0 && settings.get(TierConfig.HOST_MEMORY).getBytes() == 0) {
      throw new SettingsException(
          "tiers.disk-size needs tiers.host-memory, which pages go through: set it too");
    }
  }

  public static DiskTierOptions tier(Settings settings) {
    return new DiskTierOptions(
        settings.get(SIZE).getBytes(),
        settings.get(DIRECTORY),
        settings.get(MIN_FREE).getBytes(),
        settings.get(RETENTION).toMillis(),
        CacheConfig.namespaces(settings).key());
  }
}
