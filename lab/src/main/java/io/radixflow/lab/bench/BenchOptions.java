package io.radixflow.lab.bench;

import io.radixflow.tools.cli.common.ModelOptions;
import picocli.CommandLine.Mixin;

/** The options of benchmarks that open a model, measure in rounds and report figures. */
public final class BenchOptions {
  @Mixin public ModelOptions model;
  @Mixin public BenchRounds rounds;
  @Mixin public BenchReport report;
}
