package io.radixflow.jobs;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.config.RadixflowOptions;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.ExternalizedCheckpointRetention;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.core.execution.CheckpointingMode;

/** Flink's configuration of the job; {@code flink.} options win over it. */
final class JobConfiguration {

  private static final Duration MIN_PAUSE = Duration.ofMillis(200);

  /** After this time without a failure, the next failure counts as the first. */
  private static final Duration CALM_AFTER = Duration.ofMinutes(5);

  private JobConfiguration() {}

  private static String name(Settings settings) {
    return settings.isGiven(RadixflowOptions.JOB_NAME)
        ? settings.get(RadixflowOptions.JOB_NAME)
        : "radixflow " + settings.get(SharedConfig.MODEL);
  }

  /** Returns the model, its device and all given options. Secrets are masked. */
  static SortedMap<String, String> shown(Settings settings) {
    SortedMap<String, String> shown = settings.shown();
    for (ConfigOption<String> always : List.of(SharedConfig.MODEL, RadixflowOptions.DEVICE)) {
      shown.putIfAbsent(always.key(), settings.get(always));
    }
    return shown;
  }

  static Configuration of(Settings settings) {
    Configuration flink = new Configuration();
    Duration interval = settings.get(SharedConfig.CHECKPOINT_INTERVAL);
    flink.set(PipelineOptions.NAME, name(settings));
    flink.set(PipelineOptions.GLOBAL_JOB_PARAMETERS, shown(settings));
    flink.set(CoreOptions.DEFAULT_PARALLELISM, settings.get(RadixflowOptions.PARALLELISM));
    flink.set(PipelineOptions.MAX_PARALLELISM, settings.get(RadixflowOptions.MAX_PARALLELISM));
    // a type that only Kryo can serialize fails here, not when its class changes
    flink.set(PipelineOptions.GENERIC_TYPES, false);
    // records are immutable
    flink.set(PipelineOptions.OBJECT_REUSE, true);
    flink.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    StateDatabaseOptions.set(flink);
    flink.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, interval);
    // the serving operator reports a backlog until all of its subtasks have their engine
    flink.set(CheckpointingOptions.CHECKPOINTING_INTERVAL_DURING_BACKLOG, Duration.ZERO);
    flink.set(
        CheckpointingOptions.MIN_PAUSE_BETWEEN_CHECKPOINTS,
        interval.compareTo(MIN_PAUSE.multipliedBy(2)) < 0 ? interval.dividedBy(2) : MIN_PAUSE);
    flink.set(CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE, CheckpointingMode.EXACTLY_ONCE);
    // before a checkpoint the sink of replies has written all emitted replies: see JobOptions
    flink.set(CheckpointingOptions.ENABLE_UNALIGNED, false);
    flink.set(
        CheckpointingOptions.EXTERNALIZED_CHECKPOINT_RETENTION,
        ExternalizedCheckpointRetention.RETAIN_ON_CANCELLATION);
    flink.set(ExecutionOptions.BUFFER_TIMEOUT, settings.get(RadixflowOptions.BUFFER_TIMEOUT));
    flink.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
    flink.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_INITIAL_BACKOFF,
        Duration.ofMillis(100));
    flink.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_MAX_BACKOFF,
        Duration.ofSeconds(30));
    // with Flink's hour, the fifth machine lost in an hour would wait as long as a crash loop
    flink.set(
        RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_RESET_BACKOFF_THRESHOLD,
        CALM_AFTER);
    flink.addAll(settings.flink());
    return flink;
  }
}
