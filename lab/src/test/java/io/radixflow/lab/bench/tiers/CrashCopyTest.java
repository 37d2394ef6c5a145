package io.radixflow.lab.bench.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.cli.command.common.CliException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CrashCopyTest {
  @TempDir Path root;
  private Path from;
  private Path to;
  private int copied;

  @BeforeEach
  void makeFiles() throws IOException {
    from = Files.createDirectories(root.resolve("from"));
    to = root.resolve("to");
    for (String name : List.of("1.sst", "2.sst", "pages/3.blob")) {
      write(name);
    }
  }

  private void write(String name) throws IOException {
    Path file = from.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, name);
  }

  private void compact(String gone, String made) {
    try {
      Files.deleteIfExists(from.resolve(gone));
      write(made);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aCopyThatACompactionDisturbedIsMadeAgain() throws IOException {
    CrashCopy.copy(
        from,
        to,
        file -> {
          if (copied++ == 0) {
            compact(file.getFileName().toString().equals("1.sst") ? "2.sst" : "1.sst", "4.sst");
          }
        });

    assertThat(to)
        .isDirectoryRecursivelyContaining("glob:**4.sst")
        .isDirectoryRecursivelyContaining("glob:**3.blob");
    for (String name : List.of("1.sst", "2.sst", "4.sst")) {
      assertThat(Files.exists(to.resolve(name))).isEqualTo(Files.exists(from.resolve(name)));
    }
    assertThat(to.resolve("4.sst")).hasContent("4.sst");
  }

  @Test
  void filesThatNeverStandStillAreReported() {
    assertThatExceptionOfType(CliException.class)
        .isThrownBy(
            () ->
                CrashCopy.copy(
                    from,
                    to,
                    file -> {
                      if (file.endsWith("1.sst")) {
                        compact("none", copied++ + ".new");
                      }
                    }))
        .withMessageContaining("came and went");
  }
}
