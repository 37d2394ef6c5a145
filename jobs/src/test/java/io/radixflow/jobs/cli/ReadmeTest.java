package io.radixflow.jobs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ReadmeTest {
  @Test
  void everyCommandIsNamed() throws IOException {
    String text = Files.readString(Path.of("..", "README.md"));

    assertThat(new Cli().commandLine().getSubcommands().keySet())
        .allSatisfy(name -> assertThat(text).containsPattern("[`]" + name + "[` ]"));
  }
}
