package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.weights.WeightFiles;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class WeightFileLinesTest {

  private static String line(Duration age, boolean inUse) {
    Instant now = Instant.parse("2026-01-02T03:04:05Z");
    FileTime used = FileTime.from(now.minus(age));
    return WeightFileLines.of(new WeightFiles.Entry(Path.of("/c/m"), 3 << 19, used, inUse), now);
  }

  @Test
  void aLineHasTheSizeTheAgeAndWhetherAProcessUsesTheFile() {
    assertThat(line(Duration.ofMinutes(3), true))
        .isEqualTo("1.5 MB, last used 3 minutes ago, in use: /c/m");
    assertThat(line(Duration.ofHours(3), false)).isEqualTo("1.5 MB, last used 3 hours ago: /c/m");
    assertThat(line(Duration.ofDays(3), false)).contains("3 days ago");
    assertThat(line(Duration.ofSeconds(-1), false)).contains("0 minutes ago");
  }
}
