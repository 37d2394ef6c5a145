package io.radixflow.operators.flink.engine;

import io.radixflow.engine.Engine;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.GenerationOptions;
import java.util.Objects;
import java.util.UUID;

/**
 * A running engine with the model it serves; closing it closes both.
 *
 * @param engine generates replies
 * @param model makes prompts; also used on the engine's intake threads
 * @param instance id of this engine and its cache, different from any other's
 * @param tiers the tiers below its device
 */
public record ServingEngine(Engine engine, ServedModel model, String instance, EngineTiers tiers)
    implements AutoCloseable {

  public ServingEngine(Engine engine, ServedModel model) {
    this(engine, model, EngineTiers.NONE);
  }

  public ServingEngine(Engine engine, ServedModel model, EngineTiers tiers) {
    this(engine, model, UUID.randomUUID().toString(), tiers);
  }

  /** Returns options with the model's own defaults for generation options that are not set. */
  public ServingOptions withModelDefaults(ServingOptions options) {
    GenerationOptions given =
        Objects.requireNonNullElse(options.defaults(), GenerationOptions.builder().build());
    SamplingDefaults own = model.text().samplingDefaults();
    return new ServingOptions(
        options.limits(),
        options.prompts(),
        given.toBuilder()
            .temperature(first(given.temperature(), own.temperature()))
            .topK(first(given.topK(), own.topK()))
            .topP(first(given.topP(), own.topP()))
            .minP(first(given.minP(), own.minP()))
            .repetitionPenalty(first(given.repetitionPenalty(), own.repetitionPenalty()))
            .build(),
        options.retention(),
        options.cancelRetention(),
        options.namespaces(),
        options.modelChange());
  }

  private static <T> T first(T given, T own) {
    return given != null ? given : own;
  }

  @Override
  public void close() {
    tiers.stop();
    try (model;
        tiers) {
      engine.close();
    }
  }
}
