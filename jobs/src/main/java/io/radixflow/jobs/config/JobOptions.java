package io.radixflow.jobs.config;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.OptionSource;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SharedConfig;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;

/** All options of the job that its clients do not read. */
public final class JobOptions implements OptionSource {

  /** Time for a checkpoint and the commit of its replies. */
  private static final Duration COMMIT_TIME = Duration.ofMinutes(1);

  @Override
  public List<OptionSpec<?>> specs() {
    return Stream.of(
            RadixflowOptions.specs(),
            CacheConfig.specs(),
            TierConfig.specs(),
            DiskTierConfig.specs(),
            RemoteTierConfig.specs(),
            SchedulerConfig.specs())
        .<OptionSpec<?>>flatMap(List::stream)
        .toList();
  }

  @Override
  public void check(Settings settings) {
    if (settings.get(RadixflowOptions.ENGINE_MAX_RUNNING)
        > settings.get(RadixflowOptions.STEP_ROWS)) {
      throw new SettingsException("engine.max-running must be at most engine.step-rows");
    }
    if (settings.get(RadixflowOptions.PARALLELISM)
        > settings.get(RadixflowOptions.MAX_PARALLELISM)) {
      throw new SettingsException("job.parallelism must be at most job.max-parallelism");
    }
    DiskTierConfig.check(settings);
    checkTransactionTimeout(settings);
    checkAlignment(settings);
  }

  /**
   * Refuses unaligned checkpoints. A reply in flight in such a checkpoint would be restored, and
   * would also be written again as a lost reply.
   */
  private static void checkAlignment(Settings settings) {
    if (settings.flink().get(CheckpointingOptions.ENABLE_UNALIGNED)) {
      throw new SettingsException(
          "flink.%s may double replies after a restore: leave it out"
              .formatted(CheckpointingOptions.ENABLE_UNALIGNED.key()));
    }
  }

  /**
   * Refuses a transaction timeout that is too short. If the broker aborts a transaction before its
   * checkpoint is complete, the job fails.
   */
  private static void checkTransactionTimeout(Settings settings) {
    Duration interval =
        settings
            .flink()
            .getOptional(CheckpointingOptions.CHECKPOINTING_INTERVAL)
            .orElse(settings.get(SharedConfig.CHECKPOINT_INTERVAL));
    Duration timeout = settings.get(KafkaConfig.TRANSACTION_TIMEOUT);
    if (interval.plus(COMMIT_TIME).compareTo(timeout) > 0) {
      throw new SettingsException(
          ("job.checkpoint-interval is %d ms, with %d ms for the checkpoint and its commit more"
                  + " than kafka.transaction-timeout, %d ms, after which the broker aborts replies:"
                  + " lower the one or raise the other")
              .formatted(interval.toMillis(), COMMIT_TIME.toMillis(), timeout.toMillis()));
    }
  }
}
