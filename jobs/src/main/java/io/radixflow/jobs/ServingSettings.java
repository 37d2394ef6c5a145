package io.radixflow.jobs;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.jobs.config.CacheConfig;
import io.radixflow.jobs.config.DiskTierConfig;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.RemoteTierConfig;
import io.radixflow.jobs.config.SchedulerConfig;
import io.radixflow.jobs.config.TierConfig;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.tiers.ModelEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.GenerationOptions;
import java.util.Objects;

/** Makes the operator's options and its engine from the settings. */
public final class ServingSettings {

  private ServingSettings() {}

  /**
   * Returns the factory of the engine for the model of the settings.
   *
   * @throws SettingsException if one subtask may pass the engine more requests than it accepts
   */
  public static EngineFactory engine(Settings settings, ModelEngineFactory.Source models) {
    checkWaiting(settings, 1);
    EngineOptions engine =
        EngineOptions.builder()
            .kvPages(settings.get(RadixflowOptions.KV_PAGES))
            .kvBytes(settings.get(RadixflowOptions.KV_MEMORY).getBytes())
            .pageTokens(settings.get(RadixflowOptions.PAGE_TOKENS))
            .contextLength(settings.get(SharedConfig.CONTEXT_LENGTH))
            .stepRows(settings.get(RadixflowOptions.STEP_ROWS))
            .prefillChunk(settings.get(RadixflowOptions.PREFILL_CHUNK))
            .maxRunning(settings.get(RadixflowOptions.ENGINE_MAX_RUNNING))
            .maxWaiting(settings.get(RadixflowOptions.ENGINE_MAX_WAITING))
            .cache(CacheConfig.cache(settings))
            .tiers(TierConfig.tiers(settings))
            .scheduler(SchedulerConfig.scheduler(settings))
            .attempts(settings.get(RadixflowOptions.ENGINE_ATTEMPTS))
            .intakeThreads(settings.get(RadixflowOptions.INTAKE_THREADS))
            .speculation(
                new SpeculationOptions(
                    settings.get(RadixflowOptions.SPECULATION),
                    settings.get(RadixflowOptions.SPECULATION_DRAFTS),
                    settings.get(RadixflowOptions.SPECULATION_HISTORY).getBytes()))
            .build();
    DeviceOptions device =
        new DeviceOptions(
            settings.get(RadixflowOptions.DEVICE),
            settings.get(RadixflowOptions.THREADS),
            kvType(settings.get(RadixflowOptions.KV_TYPE)),
            settings.get(RadixflowOptions.GPU_MODE),
            settings.get(RadixflowOptions.GPU_MEMORY).getBytes(),
            settings.get(RadixflowOptions.THREAD_PRIORITY),
            settings.get(RadixflowOptions.WEIGHT_FILES).getBytes());
    return new ModelEngineFactory(models, settings.get(SharedConfig.MODEL), device, engine)
        .onDisk(DiskTierConfig.tier(settings))
        .onRemote(RemoteTierConfig.tier(settings));
  }

  /** The KV type of a setting; null for the device's own. */
  public static KvSpec.Type kvType(RadixflowOptions.KvType type) {
    return type == RadixflowOptions.KvType.AUTO ? null : KvSpec.Type.valueOf(type.name());
  }

  /**
   * Checks that an engine accepts all requests that its subtasks may pass to it at once.
   *
   * @param subtasks the number of subtasks that share an engine: all subtasks of one TaskManager
   * @throws SettingsException if it does not, because turns that could wait would be rejected
   */
  public static void checkWaiting(Settings settings, int subtasks) {
    int running = settings.get(RadixflowOptions.MAX_RUNNING);
    int waiting = settings.get(RadixflowOptions.ENGINE_MAX_WAITING);
    if ((long) running * subtasks > waiting) {
      throw new SettingsException(
          ("operator.max-running is %d, with %d subtask%s on an engine %d; engine.max-waiting is"
                  + " %d: lower the one or raise the other")
              .formatted(
                  running, subtasks, subtasks == 1 ? "" : "s", (long) running * subtasks, waiting));
    }
  }

  static ServingOptions operator(Settings settings) {
    return new ServingOptions(
        new ServingOptions.Limits(
            settings.get(RadixflowOptions.MAX_QUEUED_PER_SESSION),
            settings.get(RadixflowOptions.MAX_QUEUED_PER_TENANT),
            settings.get(RadixflowOptions.MAX_QUEUED),
            settings.get(RadixflowOptions.MAX_SESSIONS_PER_TENANT),
            settings.get(RadixflowOptions.MAX_SESSIONS),
            settings.get(RadixflowOptions.MAX_RUNNING),
            settings.get(RadixflowOptions.MAX_BRANCHES)),
        new ServingOptions.Prompts(
            settings.get(RadixflowOptions.MAX_TURNS),
            settings.get(SharedConfig.OVERFLOW),
            Objects.requireNonNullElse(
                settings.get(RadixflowOptions.MAX_TOKENS), ServingOptions.Prompts.NO_LIMIT)),
        GenerationOptions.builder()
            .temperature(settings.get(RadixflowOptions.TEMPERATURE))
            .topK(settings.get(RadixflowOptions.TOP_K))
            .topP(settings.get(RadixflowOptions.TOP_P))
            .minP(settings.get(RadixflowOptions.MIN_P))
            .repetitionPenalty(settings.get(RadixflowOptions.REPETITION_PENALTY))
            .build(),
        settings.get(RadixflowOptions.RETENTION),
        settings.get(RadixflowOptions.CANCEL_RETENTION),
        CacheConfig.namespaces(settings),
        settings.get(RadixflowOptions.MODEL_CHANGE));
  }
}
