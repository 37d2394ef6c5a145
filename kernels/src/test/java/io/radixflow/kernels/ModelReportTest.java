package io.radixflow.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.model.ModelFile;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.hub.ResolvedModel;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ModelReportTest {

  @Test
  void sizesAndWhatFitsFollowFromTheShape() {
    ModelReport report = report("qwen3", 1 << 20);
    // 2 layers, 2 key/value heads, K and V of 32, 2 bytes each
    assertThat(report.kvBytesPerToken()).isEqualTo(2 * 2 * 64 * 2);
    assertThat(report.parameters()).isEqualTo(report.weightBytes() / 2);
    assertThat(report.bytesByType()).isEqualTo(Map.of(TensorType.BF16, report.weightBytes()));
    assertThat(report.kvTokens())
        .isEqualTo(((1 << 20) * 7 / 8 - report.weightBytes()) / report.kvBytesPerToken());
    assertThat(report.fullContexts()).isEqualTo(report.kvTokens() / 256);
    assertThat(report.fingerprint()).matches("[0-9a-f]{16}");
    assertThat(report.source()).isEqualTo("given path");
  }

  @Test
  void nothingFitsWhereTheWeightsDoNot() {
    assertThat(report("llama-k", 1000).kvTokens()).isZero();
  }

  @Test
  void encodingsAreListedApart() {
    assertThat(report("llama-k", 1 << 20).bytesByType())
        .containsOnlyKeys(TensorType.F32, TensorType.Q4_K, TensorType.Q5_K, TensorType.Q6_K);
  }

  private static ModelReport report(String name, long memory) {
    Path path = TinyModels.path(name);
    ResolvedModel found = new ResolvedModel(path, name, ResolvedModel.Source.PATH);
    try (ModelFile file = ModelFile.open(path)) {
      return ModelReport.of(found, file, KvSpec.Type.F16, memory, null);
    }
  }
}
