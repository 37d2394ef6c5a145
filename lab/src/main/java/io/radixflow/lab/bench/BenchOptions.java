package io.radixflow.lab.bench;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ServedModel;
import picocli.CommandLine.Mixin;

/** The options of benchmarks that open a model, measure in rounds and report figures. */
public final class BenchOptions {
  @Mixin public ModelOptions model;
  @Mixin public BenchRounds rounds;
  @Mixin public BenchReport report;

  /** Loads an open model into a new engine. */
  public Engine openEngine(CliCommand command, ServedModel served, EngineOptions options) {
    return ContinuousBatchingEngine.open(
        model.openBackend(command, served), served.tokenizer(), options);
  }
}
