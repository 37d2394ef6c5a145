package io.radixflow.lab.hitrates;

import io.radixflow.lab.workload.WorkloadReader;
import io.radixflow.tools.cli.common.CliEnvironment;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file of a workload, or stdin for {@code -}. */
record WorkloadFile(String name, CliEnvironment environment) implements WorkloadReader.Source {

  @Override
  public InputStream open() throws IOException {
    return name.equals("-") ? environment.input() : Files.newInputStream(Path.of(name));
  }
}
