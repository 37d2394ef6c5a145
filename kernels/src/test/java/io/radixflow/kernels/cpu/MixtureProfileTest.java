package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.step.StepProfile;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.TensorType;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A profile says what the experts of a mixture do, and what they read and multiply. */
class MixtureProfileTest {

  private static final int ROWS = 5;

  @Test
  void productsOfExpertsAreOperationsWithTheWorkOfTheRowsThatChoseThem()
      throws InterruptedException {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.mixture(), TensorType.Q4_0);
    try (CpuBackend backend =
        CpuBackend.open(weights, new DeviceOptions("cpu", 2, KvSpec.Type.F16))) {
      backend.openPool(4, CpuKvPool.PAGE_TOKENS);
      int[] ids = Sequences.randomTokens(ROWS, weights.config().vocabSize(), 3);
      StepProfile profile = new StepProfile();
      backend.profile(profile);
      Sequences.logits(backend, ids, ROWS, Sequences.pages(ROWS));
      backend.profile(null);

      Map<String, StepProfile.Phase> phases =
          profile.phases().stream().collect(Collectors.toMap(StepProfile.Phase::name, p -> p));
      assertThat(phases)
          .containsKeys("choice of experts", "gate of experts", "sum of experts", "rounding");
      long workOfUp = 2 * workOfOneMatrix(weights.config());
      assertThat(phases.get("gate and up of experts").multiplyAdds()).isEqualTo(workOfUp);
      assertThat(phases.get("down of experts").multiplyAdds()).isEqualTo(workOfUp / 2);
      assertThat(phases.get("gate and up of experts").weightBytes()).isPositive();
      assertThat(phases.values().stream().mapToLong(StepProfile.Phase::nanos).sum())
          .isLessThanOrEqualTo(profile.nanos());
    }
  }

  /** Multiply-adds of all rows with one matrix of each expert that they chose, in all layers. */
  private static long workOfOneMatrix(ModelConfig config) {
    long sum = 0;
    for (Layer layer : config.blocks()) {
      if (layer.feedForward() instanceof Experts experts) {
        sum += (long) experts.chosen() * experts.expert().width() * config.hiddenSize() * ROWS;
      }
    }
    return sum;
  }
}
