package io.radixflow.jobs.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class OptionsTableTest {

  private static final Path README = Path.of("..", "README.md");
  private static final String BEGIN = "<!-- options:begin -->\n";
  private static final String END = "<!-- options:end -->";

  @Test
  void theReadmeHasTheTableOfTheCode() throws IOException {
    String readme = Files.readString(README);
    assertThat(readme).contains(BEGIN, END);
    String table = readme.substring(readme.indexOf(BEGIN) + BEGIN.length(), readme.indexOf(END));
    assertThat(table.strip())
        .as("put this between the markers:%n%s", OptionsTable.markdown())
        .isEqualTo(OptionsTable.markdown().strip());
  }

  @Test
  void aLineOfTheTableShowsKeyDefaultAndValidValues() {
    assertThat(OptionsTable.markdown())
        .contains(
            "| `model.device` | `auto` | one of auto, cpu, sim, cuda or cuda:N | What computes; 'auto' takes the"
                + " best there is. |\n",
            "| `session.retention` | `7d` |",
            "| `session.cancel-retention` | `10min` |",
            "| `job.checkpoint-interval` | `1s` |",
            "| `job.buffer-timeout` | `2ms` |",
            "| `generation.top-k` |  | an integer, 0 or more |");
  }
}
