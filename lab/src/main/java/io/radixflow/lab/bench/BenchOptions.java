package io.radixflow.lab.bench;

import io.radixflow.kernels.ServedModel;
import io.radixflow.operators.engine.Engine;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.engine.loop.ContinuousBatchingEngine;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.ModelOptions;
import picocli.CommandLine.Mixin;

/** The options of benchmarks that open a model, measure in rounds and report figures. */
public final class BenchOptions {
  @Mixin public ModelOptions model;
  @Mixin public BenchRounds rounds;
  @Mixin public BenchReport report;

  /** Loads an open model into an engine of its own. */
  public Engine openEngine(CliCommand command, ServedModel served, EngineOptions options) {
    return ContinuousBatchingEngine.open(
        model.openBackend(command, served), served.tokenizer(), options);
  }
}
