package io.radixflow.jobs;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.operators.flink.ServingOptions;
import io.radixflow.operators.session.GenerationOptions;

/** The operator's options, as the settings say. */
final class ServingSettings {

  private ServingSettings() {}

  static ServingOptions operator(Settings settings) {
    return new ServingOptions(
        settings.get(RadixflowOptions.MAX_QUEUED_PER_SESSION),
        settings.get(RadixflowOptions.MAX_QUEUED_PER_TENANT),
        settings.get(RadixflowOptions.MAX_QUEUED),
        settings.get(RadixflowOptions.MAX_RUNNING),
        settings.get(RadixflowOptions.MAX_BRANCHES),
        settings.get(RadixflowOptions.OVERFLOW),
        new GenerationOptions(
            settings.get(RadixflowOptions.TEMPERATURE),
            settings.get(RadixflowOptions.TOP_K),
            settings.get(RadixflowOptions.TOP_P),
            settings.get(RadixflowOptions.MIN_P),
            settings.get(RadixflowOptions.REPETITION_PENALTY),
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            null),
        settings.get(RadixflowOptions.MAX_TOKENS),
        settings.get(RadixflowOptions.RETENTION),
        settings.get(RadixflowOptions.CANCEL_RETENTION),
        settings.get(RadixflowOptions.NAMESPACE_KEY));
  }
}
