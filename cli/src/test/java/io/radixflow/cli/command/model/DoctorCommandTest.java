package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class DoctorCommandTest {
  private final Cli cli = new Cli();

  @Test
  void theTextShowsTheDevicesAndFlinksOptions() {
    Cli.Result result = cli.run("doctor", "--device", "cpu");

    assertThat(result.code()).isZero();
    assertThat(result.out())
        .contains("Java", "Processor", "Native code", "Device code", "CUDA driver", "GPU 0 works")
        .contains("taskmanager.memory.task.")
        .endsWith("All is well.\n");
  }

  @Test
  void theJsonHasTheSameFacts() throws IOException {
    Cli.Result result = cli.run("doctor", "--device", "cpu", "--json");

    JsonNode json = new ObjectMapper().readTree(result.out());
    assertThat(json.get("java").asText()).isEqualTo(System.getProperty("java.version"));
    assertThat(json.get("memory_bytes").asLong()).isGreaterThan(1L << 28);
    assertThat(json.get("instructions").asText()).contains("kernels");
    assertThat(json.get("native_code").asText()).containsPattern("(linux|macos)-\\w+");
    assertThat(json.get("healthy").asBoolean()).isTrue();
    assertThat(json.get("weight_files").isArray()).isTrue();
    assertThat(json.get("flink_options").size()).isPositive();
  }

  @Test
  void aMissingGpuIsReportedAndTheExitCodeIsOne() throws IOException {
    Cli.Result result = cli.run("doctor", "--device", "cuda:1000", "--json");

    JsonNode json = new ObjectMapper().readTree(result.out());
    assertThat(result.code()).isEqualTo(1);
    assertThat(json.get("gpu_problem").asText()).isNotEmpty();
    assertThat(json.get("gpu_tested").asBoolean()).isFalse();
  }
}
