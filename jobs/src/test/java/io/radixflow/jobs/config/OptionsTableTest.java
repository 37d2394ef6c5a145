package io.radixflow.jobs.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class OptionsTableTest {

  private static final Path FILE = Path.of("..", "docs", "options.md");

  /** {@code mvn -pl jobs test -Dtest=OptionsTableTest -Dupdate=true} writes the file. */
  @Test
  void docsOptionsHasTheOptionsOfTheCode() throws IOException {
    if (Boolean.getBoolean("update")) {
      Files.writeString(FILE, OptionsTable.markdown());
    }
    assertThat(FILE)
        .as("run this test with -Dupdate=true to write the file")
        .hasContent(OptionsTable.markdown());
  }

  @Test
  void aLineOfTheTableShowsKeyDefaultAndValidValues() {
    assertThat(OptionsTable.markdown())
        .contains(
            "\n## Model\n",
            "| `model.device` | `auto` | one of auto, cpu, sim, cuda or cuda:N | Device that"
                + " computes; 'auto' takes the best available device. |\n",
            "| `session.retention` | `7d` |",
            "| `session.cancel-retention` | `10min` |",
            "| `job.checkpoint-interval` | `1s` |",
            "| `job.buffer-timeout` | `0ms` |",
            "| `generation.top-k` |  | 0 or more |");
  }
}
