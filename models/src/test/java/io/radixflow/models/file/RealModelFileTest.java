package io.radixflow.models.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.models.Float16;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.TestModels;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("model")
class RealModelFileTest {
  @TempDir Path home;

  @Test
  void theDefaultModelHasItsPublishedShape() {
    try (ModelFile model = ModelFile.open(TestModels.smolLm2(), home)) {
      ModelConfig config = model.config();
      assertThat(config.architecture()).isEqualTo("llama");
      assertThat(config.vocabSize()).isEqualTo(49152);
      assertThat(config.layers()).isEqualTo(30);
      assertThat(config.hiddenSize()).isEqualTo(576);
      assertThat(config.intermediateSize()).isEqualTo(1536);
      assertThat(config.heads()).isEqualTo(9);
      assertThat(config.kvHeads()).isEqualTo(3);
      assertThat(config.headDim()).isEqualTo(64);
      assertThat(config.normEpsilon()).isEqualTo(9.999999747378752e-06f);
      assertThat(config.rope().base()).isEqualTo(100000);
      assertThat(config.rope().interleaved()).isTrue();
      assertThat(config.tiedEmbedding()).isTrue();
    }
  }

  @Test
  void rowsAreLittleEndianViewsThatDequantiseToTheSameFloats() {
    try (ModelFile model = ModelFile.open(TestModels.smolLm2(), home)) {
      Tensor tensor = model.tensor("blk.3.ffn_up.weight");
      assertThat(tensor.type()).isEqualTo(TensorType.Q4_1);
      ByteBuffer row = tensor.rows(17, 1);
      assertThat(row.remaining()).isEqualTo(576 / 32 * 20);
      float[] all = new float[576];
      tensor.dequantize(17, all, 0);
      float d = Float16.toFloat(row.getShort(0));
      float m = Float16.toFloat(row.getShort(2));
      assertThat(all[0]).isEqualTo(Math.fma(row.get(4) & 15, d, m));
      assertThat(all).doesNotContain(Float.NaN);
    }
  }

  @Test
  void theFingerprintStaysTheSameWhenItIsRead() {
    String first = fingerprint();
    assertThat(first).matches("[0-9a-f]{16}").isEqualTo(fingerprint());
  }

  private String fingerprint() {
    try (ModelFile model = ModelFile.open(TestModels.smolLm2(), home)) {
      return model.fingerprint();
    }
  }
}
