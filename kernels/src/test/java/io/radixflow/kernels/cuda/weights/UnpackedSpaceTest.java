package io.radixflow.kernels.cuda.weights;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.SyntheticWeights;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.models.TensorType;
import org.junit.jupiter.api.Test;

class UnpackedSpaceTest {

  private final UnpackedSpace space = new UnpackedSpace();

  @Test
  void theLargestQuantisedMatrixDecides() {
    add("blk.0.attn_q.weight", WeightFormat.Q4_K, 512, 256);
    add("blk.0.ffn_gate.weight", WeightFormat.Q8_0, 2048, 256);
    add("blk.0.ffn_down.weight", WeightFormat.Q4_K, 256, 1024);
    assertThat(space.bytes()).isEqualTo(2L * 2048 * 256);
  }

  @Test
  void floatsAndTheMatricesOfTokensNeedNone() {
    add("blk.0.attn_q.weight", WeightFormat.BF16, 512, 256);
    add("token_embd.weight", WeightFormat.Q4_K, 32_000, 256);
    add("output.weight", WeightFormat.Q6_K, 32_000, 256);
    assertThat(space.bytes()).isZero();
  }

  @Test
  void aVeryLargeMatrixIsUnpackedInParts() {
    add("blk.0.ffn_gate.weight", WeightFormat.Q4_K, 106_496, 16_384);
    assertThat(space.bytes()).isEqualTo(256L << 20);
  }

  @Test
  void theSpaceCountsAsWorkSpaceOfAModel() {
    long quantised =
        CudaWeightSizes.of(SyntheticWeights.of(CudaModels.inGroups(), TensorType.Q4_0), 100)
            .workBytes();
    long floats =
        CudaWeightSizes.of(SyntheticWeights.of(CudaModels.inGroups(), TensorType.BF16), 100)
            .workBytes();
    assertThat(floats).isEqualTo(100);
    assertThat(quantised).isGreaterThan(100);
  }

  private void add(String name, WeightFormat format, int rows, int columns) {
    space.add(name, new FormatRun(format, 0, rows), columns);
  }
}
