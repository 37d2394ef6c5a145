package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.operators.tier.remote.RemoteTierOptions;
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
              "A folder that all TaskManagers reach, where a session finds its KV pages on another one; "
                  + "Flink's plugin for the scheme must be in its plugins/. Needs tiers.host-memory.");

  public static final ConfigOption<MemorySize> SIZE =
      ALL.size("tiers.remote-size", MemorySize.ZERO, "0, or a size such as 2tb")
          .describe(
              "What pages of all TaskManagers may take there, for each model; the oldest are deleted. 0 "
                  + "for no limit.");

  public static final ConfigOption<Duration> RETENTION =
      ALL.add(
              key("tiers.remote-retention").durationType().defaultValue(Duration.ofDays(7)),
              "0, or a duration such as 7d",
              time -> !time.isNegative())
          .describe(
              "How long after its upload a page there is deleted; it is uploaded again when it is next "
                  + "loaded from disk. 0 keeps it.");

  public static final ConfigOption<Duration> UPLOAD_AFTER =
      ALL.add(
              key("tiers.remote-upload-after").durationType().defaultValue(Duration.ofSeconds(10)),
              "a duration such as 10s or 0s",
              time -> !time.isNegative())
          .describe(
              "How long after it was written to disk a page is uploaded: those of sessions that end "
                  + "sooner never are. Without a disk tier at once.");

  public static final ConfigOption<MemorySize> BANDWIDTH =
      ALL.size("tiers.remote-bandwidth", MemorySize.parse("100mb"), "0, or a size such as 100mb")
          .describe("What a TaskManager uploads in a second at most. 0 for no limit.");

  public static final ConfigOption<Integer> TRANSFERS =
      ALL.integer("tiers.remote-transfers", 8, 1, MOST_TRANSFERS)
          .describe("How many pages are read at a time, and how many written.");

  public static final ConfigOption<Duration> TIMEOUT =
      ALL.duration("tiers.remote-timeout", Duration.ofSeconds(5))
          .describe(
              "After this long an operation there has failed; after three in a row the tier is not "
                  + "asked for a while.");

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

  /** The remote tier, as the settings say. */
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
