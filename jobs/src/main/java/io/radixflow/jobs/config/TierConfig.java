package io.radixflow.jobs.config;

import io.radixflow.client.config.OptionGroup;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.WritePolicy;
import io.radixflow.engine.tier.loadback.LoadBackOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.MemorySize;

/** The options of the tiers below the device's KV pool. */
public final class TierConfig {

  private static final TierOptions DEFAULT = TierOptions.NONE;
  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<MemorySize> HOST_MEMORY =
      ALL.size("tiers.host-memory", MemorySize.ZERO, "a memory size such as 16gb")
          .describe(
              "Host memory for KV pages that do not fit on the device; pinned with a GPU. 0 for no"
                  + " tiers. With a CPU it is needed in addition to the KV pool, which is in the"
                  + " same memory.");

  public static final ConfigOption<WritePolicy> WRITE_POLICY =
      ALL.choice("tiers.write-policy", DEFAULT.writePolicy())
          .describe(
              "When pages are copied to the host: when they are computed, when a second request has"
                  + " used them, or when the device needs their space.");

  public static final ConfigOption<Integer> LOAD_BACK_THRESHOLD =
      ALL.integer(
              "tiers.load-back-threshold",
              DEFAULT.loadBack().threshold(),
              LoadBackOptions.BY_COST,
              Integer.MAX_VALUE)
          .describe(
              "The fewest tokens that are loaded instead of computed; -1 decides by measured"
                  + " times.");

  public static final ConfigOption<PrefetchPolicy> PREFETCH_POLICY =
      ALL.choice("tiers.prefetch-policy", DEFAULT.loadBack().prefetchPolicy())
          .describe(
              "How long a waiting turn waits for pages from the tiers below host memory: not at"
                  + " all, until all are loaded, or for 2 s plus 0.1 s per 1,024 tokens, at most 30"
                  + " s.");

  public static final ConfigOption<Integer> PREFETCH_THRESHOLD =
      ALL.integer(
              "tiers.prefetch-threshold",
              DEFAULT.loadBack().prefetchThreshold(),
              1,
              Integer.MAX_VALUE)
          .describe("The fewest tokens for which the tiers below host memory are asked.");

  private TierConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  public static TierOptions tiers(Settings settings) {
    return DEFAULT
        .withHostBytes(settings.get(HOST_MEMORY).getBytes())
        .withWritePolicy(settings.get(WRITE_POLICY))
        .withLoadBackThreshold(settings.get(LOAD_BACK_THRESHOLD))
        .withPrefetch(settings.get(PREFETCH_POLICY), settings.get(PREFETCH_THRESHOLD));
  }
}
