package io.radixflow.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Checks the page of commands, including the commands of the lab. */
class CommandsPageTest {
  @Test
  void thePageNamesEveryCommand() throws IOException {
    String text = Files.readString(Path.of("..", "docs", "commands.md"));

    check(text, "", new Cli().commandLine().getSubcommands());
  }

  private static void check(String text, String parent, Map<String, CommandLine> commands) {
    commands.forEach(
        (name, command) -> {
          assertThat(text).containsPattern("[`]" + parent + name + "[` ]");
          check(text, parent + name + " ", command.getSubcommands());
        });
  }
}
