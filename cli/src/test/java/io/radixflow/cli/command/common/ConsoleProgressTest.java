package io.radixflow.cli.command.common;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ConsoleProgressTest {
  private final StringWriter written = new StringWriter();
  private long seconds;

  @Test
  void aShortTransferShowsNothing() {
    ConsoleProgress progress = progress(true);
    progress.begin("a.gguf", 100, 0);
    seconds += 1;
    progress.advance(100);
    progress.end();
    assertThat(text()).isEmpty();
  }

  @Test
  void aLongTransferDrawsABarWithShareAndRate() {
    ConsoleProgress progress = progress(true);
    progress.begin("a.gguf", 40_000_000, 10_000_000);
    seconds += 10;
    progress.advance(10_000_000);
    assertThat(text())
        .isEqualTo("\ra.gguf [===============               ] 50 % of 40.0 MB, 1.0 MB/s  ");
    progress.end();
    assertThat(text()).endsWith("\n");
  }

  @Test
  void withoutATerminalLinesComeRarely() {
    ConsoleProgress progress = progress(false);
    progress.begin("a.gguf", 100_000_000, 0);
    for (int i = 0; i < 30; i++) {
      seconds += 1;
      progress.advance(1_000_000);
    }
    progress.end();
    assertThat(text().lines()).hasSizeLessThanOrEqualTo(5);
    assertThat(text()).doesNotContain("\r").contains("% of 100.0 MB");
  }

  @Test
  void anUnknownSizeShowsTheTime() {
    ConsoleProgress progress = progress(false);
    progress.begin("pip download", -1, 0);
    seconds += 5;
    progress.advance(0);
    assertThat(text()).isEqualTo("pip download: 5 s\n");
  }

  private ConsoleProgress progress(boolean terminal) {
    return new ConsoleProgress(new PrintWriter(written), terminal, () -> seconds * 1_000_000_000L);
  }

  private String text() {
    return written.toString().replace(System.lineSeparator(), "\n");
  }
}
