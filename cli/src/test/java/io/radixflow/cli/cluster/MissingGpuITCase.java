package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.models.TinyChatModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A GPU is asked for where there is none. */
class MissingGpuITCase {

  private static final Duration PATIENCE = Duration.ofSeconds(120);

  @TempDir Path dir;

  @Test
  void aCommandThatRunsTheJobEndsWithOneLineThatSaysWhy() throws Exception {
    Path driver = dir.resolve("libcuda.so.1");
    Path output = dir.resolve("output");
    Path model = TinyChatModel.write(dir.resolve("tiny"));
    List<String> arguments =
        List.of(
            "up",
            "--model",
            model.toString(),
            "--device",
            "cuda",
            "--port",
            "0",
            "--metrics-port",
            "0",
            "--gateway-port",
            "0");
    try (JavaProcess up =
        CommandProcess.start(dir, output, List.of("-Dgpu.driver=" + driver), arguments)) {
      assertThat(up.awaitExit(PATIENCE)).isEqualTo(1);
    }
    assertThat(Files.readString(output))
        .contains(
            "radixflow: the job does not start: the engine does not open: device cuda cannot be"
                + " used: The CUDA driver "
                + driver)
        .doesNotContain("\tat ");
  }
}
