package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.HeapRegions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import java.lang.reflect.Proxy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CpuMemoryNeedsTest {

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      names = {"F32", "BF16", "Q8_0", "Q4_1", "Q4_0"})
  void theBytesKnownBeforeLoadingAreThoseLoaded(TensorType type) {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), type);
    WorkerTeam team = new WorkerTeam(1);
    CpuWeightLoader loader =
        new CpuWeightLoader(
            weights, new PanelLoader(team, null), team.memory(), ModelProgress.NONE);
    loader.load();

    MemoryNeeds needs = CpuBackend.memoryNeeds(weights);

    assertThat(needs.weightBytes()).isBetween(loader.bytes() * 98 / 100, loader.bytes());
    assertThat(needs.weights()).containsKey(type);
    assertThat(needs.fileBytes()).isPositive();
    assertThat(needs.workBytes()).isPositive();
  }

  /** Of AWQ, GPTQ, FP8 and MXFP4 in safetensors a matrix's codes and scales are read whole. */
  @Test
  void whatALoadReadsWholeCountsForAsManyMatricesAsAreOpenAtATime() {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.BF16);
    long each = 1L << 40;
    assertThat(CpuBackend.memoryNeeds(weights).workBytes()).isLessThan(each);

    MemoryNeeds needs = CpuBackend.memoryNeeds(new WholeWeights(weights, each));

    assertThat(needs.workBytes())
        .isBetween(LoadQueue.MOST_OPEN * each, 3 * LoadQueue.MOST_OPEN * each);
  }

  @Test
  void whatTheHeapLosesBehindArraysCounts() {
    assertThat(new HeapRegions(1024).lost(511)).isZero();
    assertThat(new HeapRegions(1024).lost(512)).isEqualTo(512);
    assertThat(new HeapRegions(1024).lost(1024)).isZero();
    assertThat(new HeapRegions(1024).lost(1025)).isEqualTo(1023);
    assertThat(new HeapRegions(0).lost(1025)).isZero();
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
    MemoryNeeds without = CpuMemoryNeeds.of(weights, new HeapRegions(0), false);

    MemoryNeeds with = CpuMemoryNeeds.of(weights, new HeapRegions(4096), false);

    assertThat(with.weightBytes()).isEqualTo(without.weightBytes());
    assertThat(with.workBytes() - without.workBytes()).isBetween(1L, 4096L * 100);
  }

  @Test
  void rowsAndWeightsOfNativeKernelsTakeNoHeap() {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
    MemoryStatus memory = new MemoryStatus(4L << 30, 0, 2L << 30, 1L << 30, 0, 0);
    MemoryNeeds inside = CpuMemoryNeeds.of(weights, new HeapRegions(0), false);

    MemoryNeeds outside = CpuMemoryNeeds.of(weights, new HeapRegions(0), true);

    assertThat(outside.outsideBytes()).isGreaterThan(outside.weightBytes());
    assertThat(outside.leaves(memory) - inside.leaves(memory))
        .isBetween(inside.weightBytes(), outside.outsideBytes());
    assertThat(inside.leavesOutside(memory) - outside.leavesOutside(memory))
        .isEqualTo(outside.outsideBytes());
  }

  @Test
  void theScoresOfALongContextCountForEachWorker() {
    ModelConfig config = Shapes.llama();
    long rope = 4L * config.headDim();
    long row =
        4L * config.layer(0).attention().heads() * Runtime.getRuntime().availableProcessors();

    long shorter = workBytes(config, 1 << 20);
    long longer = workBytes(config, 1 << 21);

    assertThat(longer - shorter).isGreaterThan((rope + 2 * row) << 20);
    assertThat(longer - shorter).isLessThan((rope + 3 * row) << 20);
  }

  private static long workBytes(ModelConfig config, int contextLength) {
    ModelConfig longer =
        new ModelConfig(
            config.architecture(),
            config.name(),
            config.vocabSize(),
            contextLength,
            config.hiddenSize(),
            config.norm(),
            config.scales(),
            config.blocks(),
            config.tiedEmbedding());
    return CpuBackend.memoryNeeds(SyntheticWeights.of(longer, TensorType.Q4_1)).workBytes();
  }

  /** Weights of which each tensor keeps so many bytes while it is read. */
  private record WholeWeights(WeightSource weights, long each) implements WeightSource {

    @Override
    public ModelConfig config() {
      return weights.config();
    }

    @Override
    public Tensor tensor(String name) {
      return (Tensor)
          Proxy.newProxyInstance(
              Tensor.class.getClassLoader(),
              new Class<?>[] {Tensor.class},
              (proxy, method, arguments) ->
                  method.getName().equals("heldBytes")
                      ? (Object) each
                      : method.invoke(weights.tensor(name), arguments));
    }

    @Override
    public String fingerprint() {
      return weights.fingerprint();
    }

    @Override
    public void close() {}
  }

  @Test
  void aPoolThatDoesNotFitIsRefusedBeforeWeightsAreRead() {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
    MemoryStatus memory = new MemoryStatus(4L << 30, 0, 2L << 30, 1L << 30, 0, 0);
    PoolRequest pool = new PoolRequest(0, 4L << 30, 1, 0);

    assertThatThrownBy(
            () ->
                CpuBackend.open(
                    weights,
                    new DeviceOptions("cpu", 1, KvSpec.Type.F32),
                    pool,
                    () -> memory,
                    ModelProgress.NONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the KV pool 4096 MB")
        .hasMessageContaining("engine.kv-memory");
  }

  @Test
  void aPoolOfPagesIsCountedByTheirBytes() {
    KvSpec spec = KvSpec.of(Shapes.llama(), KvSpec.Type.F32);

    assertThat(new PoolRequest(10, 0, 1, 0).poolBytes(spec, 16))
        .isEqualTo(160 * spec.bytesPerToken());
    assertThat(PoolRequest.NONE.poolBytes(spec, 16)).isEqualTo(16 * spec.bytesPerToken());
  }
}
