package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.client.config.OptionGroup;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/** The options of the remote file system below an engine's host memory and disk. */
public final class RemoteTierConfig {

  private static final int MOST_TRANSFERS = 256;
  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<String> DIRECTORY =
      ALL.add(
              key("tiers.remote-directory").stringType().noDefaultValue(),
              "a URI such as s3://bucket/folder, hdfs://host/folder or file:///folder",
              RemoteTierConfig::isUri)
          .describe(
              "A folder that all TaskManagers can reach. A session that moves to another"
                  + " TaskManager finds its KV pages there. Flink's plugin for the scheme must be"
                  + " in its plugins/. Needs tiers.host-memory.");

  public static final ConfigOption<MemorySize> SIZE =
      ALL.size("tiers.remote-size", MemorySize.ZERO, "0, or a size such as 2tb")
          .describe(
              "Space for the pages of all TaskManagers there, per model; if it is full, the oldest"
                  + " pages are deleted. 0 for no limit.");

  public static final ConfigOption<Duration> RETENTION =
      ALL.add(
              key("tiers.remote-retention").durationType().defaultValue(Duration.ofDays(7)),
              "0, or a duration such as 7d",
              time -> !time.isNegative())
          .describe(
              "How long a page stays there after its upload; it is uploaded again when it is next"
                  + " loaded from disk. 0 for no limit.");

  public static final ConfigOption<Duration> UPLOAD_AFTER =
      ALL.add(
              key("tiers.remote-upload-after").durationType().defaultValue(Duration.ofSeconds(10)),
              "a duration such as 10s or 0s",
              time -> !time.isNegative())
          .describe(
              "How long after its write to disk a page is uploaded; pages of sessions that end"
                  + " sooner are never uploaded. Without a disk tier pages are uploaded immediately.");

  public static final ConfigOption<MemorySize> BANDWIDTH =
      ALL.size("tiers.remote-bandwidth", MemorySize.parse("100mb"), "0, or a size such as 100mb")
          .describe("Most bytes that a TaskManager uploads per second. 0 for no limit.");

  public static final ConfigOption<Integer> TRANSFERS =
      ALL.integer("tiers.remote-transfers", 8, 1, MOST_TRANSFERS)
          .describe("How many pages are read in parallel, and how many are written in parallel.");

  public static final ConfigOption<Duration> TIMEOUT =
      ALL.duration("tiers.remote-timeout", Duration.ofSeconds(5))
          .describe(
              "Timeout of an operation there. After three failed operations in a row the tier is"
                  + " not used for a while.");

  private RemoteTierConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  private static boolean isUri(String text) {
    try {
      return URI.create(text).getScheme() != null;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  public static RemoteTierOptions tier(Settings settings) {
    return new RemoteTierOptions(
        settings.get(DIRECTORY),
        settings.get(TRANSFERS),
        settings.get(TIMEOUT).toMillis(),
        settings.get(BANDWIDTH).getBytes(),
        settings.get(SIZE).getBytes(),
        settings.get(RETENTION).toMillis(),
        settings.get(UPLOAD_AFTER).toMillis(),
        CacheConfig.namespaces(settings).key());
  }
}
