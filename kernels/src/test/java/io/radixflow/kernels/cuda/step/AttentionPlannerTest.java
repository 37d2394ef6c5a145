package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AttentionPlannerTest {

  private static final AttentionShape LLAMA = new AttentionShape(32, 8, 128, 16);
  private static final int H200_BLOCKS = 2 * 132;

  @ParameterizedTest
  @EnumSource
  void oneLongConversationIsCutUntilItsTilesFillTheDevice(GpuMode mode) {
    AttentionPlanner planner = planner(mode, 1 << 16);
    planner.begin();
    planner.add(32 * AttentionPlanner.SPLIT_TOKENS, 1);
    planner.plan();

    assertThat(planner.tiles()).isEqualTo(33);
    assertThat(planner.partials()).isEqualTo(33 * LLAMA.group());
    assertThat(planner.keyTiles()).isEqualTo(33);
  }

  @Test
  void aConversationTooLongForTheDeviceGetsTilesOfSeveralSplits() {
    AttentionPlanner planner = planner(GpuMode.FAST, 1 << 16);
    planner.begin();
    planner.add(100 * AttentionPlanner.SPLIT_TOKENS - 1, 1);
    planner.plan();

    assertThat(planner.foldedSplits()).isEqualTo(4);
    assertThat(planner.tiles()).isEqualTo(25);
    assertThat(planner.partials()).isEqualTo(25 * LLAMA.group());
  }

  @ParameterizedTest
  @EnumSource
  void manyConversationsAreNotCut(GpuMode mode) {
    AttentionPlanner planner = planner(mode, 1 << 16);
    planner.begin();
    for (int i = 0; i < 64; i++) {
      planner.add(2048, 1);
    }
    planner.plan();

    assertThat(planner.tiles()).isEqualTo(64);
    assertThat(planner.partials()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void amongManyShortConversationsALongOneIsCut(GpuMode mode) {
    AttentionPlanner planner = planner(mode, 1 << 16);
    planner.begin();
    for (int i = 0; i < 64; i++) {
      planner.add(500, 1);
    }
    planner.add(100_000, 1);
    planner.plan();

    assertThat(planner.tiles()).isGreaterThan(66);
    assertThat(planner.mergeInts()[0]).isEqualTo(-1);
    assertThat(planner.mergeInts()[2 * 64]).isZero();
  }

  @Test
  void withoutMemoryForPartialsNoChunkIsCut() {
    AttentionPlanner planner = planner(GpuMode.DETERMINISTIC, 100);
    planner.begin();
    planner.add(100_000, 1);
    planner.add(100, 1);
    planner.plan();

    assertThat(planner.tiles()).isEqualTo(2);
    assertThat(planner.partials()).isZero();
  }

  @Test
  void aPrefillUsesTheKernelWhoseWarpsShareRows() {
    AttentionPlanner planner = planner(GpuMode.DETERMINISTIC, 1 << 16);
    planner.begin();
    planner.add(0, 2048);
    planner.add(77, 4);
    planner.plan();

    assertThat(planner.keyTiles()).isEqualTo(1);
    assertThat(planner.tiles()).isEqualTo(1 + 2048 * LLAMA.group() / 64);
    assertThat(planner.tileInts()).startsWith(1, 0, 0, 1, 0, 2048 * 4 - 64, 0, 16);
  }

  @Test
  void longTilesComeFirst() {
    AttentionPlanner planner = planner(GpuMode.DETERMINISTIC, 0);
    planner.begin();
    planner.add(100, 1);
    planner.add(10_000, 1);
    planner.add(200, 1);
    planner.plan();

    assertThat(planner.tileInts()).startsWith(1, 0, 0, 79, 0, 0, 0, 1, 2, 0, 0, 2);
  }

  @Test
  void aDeviceWithLittleSharedMemoryUsesTheOtherKernelForAll() {
    AttentionPlanner planner =
        new AttentionPlanner(
            LLAMA,
            GpuMode.DETERMINISTIC,
            100,
            false,
            new AttentionPlanner.Limits(512, 4096, 1 << 16));
    planner.begin();
    planner.add(77, 1);
    planner.plan();

    assertThat(planner.keyTiles()).isZero();
    assertThat(planner.tiles()).isEqualTo(1);
  }

  @Test
  void aStepThatNeedsMoreTilesThanThereAreIsRefused() {
    AttentionPlanner planner =
        new AttentionPlanner(
            LLAMA, GpuMode.DETERMINISTIC, 100, true, new AttentionPlanner.Limits(8, 3, 1 << 16));
    planner.begin();
    planner.add(0, 64);

    assertThatThrownBy(planner::plan)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a step needs 4 attention tiles; the limit is 3");
  }

  @Test
  void headsThatNoKernelKnowsAreRefusedByName() {
    assertThatThrownBy(() -> new AttentionShape(8, 8, 72, 16))
        .hasMessageContaining("72")
        .hasMessageContaining("[16, 32, 64, 80, 96, 128, 256]");
    assertThatThrownBy(() -> new AttentionShape(4, 1, 48, 8, 16, KvSpec.Type.BF16))
        .hasMessageContaining("latent attention of 48 and 8 elements")
        .hasMessageEndingWith("support 32 and 8, 512 and 64");
    assertThatThrownBy(() -> new AttentionShape(34, 2, 64, 16)).hasMessageContaining("1 to 16");
    assertThatThrownBy(() -> new AttentionShape(8, 8, 64, 24))
        .hasMessageContaining("powers of two");
  }

  private static AttentionPlanner planner(GpuMode mode, int maxPartials) {
    return new AttentionPlanner(
        LLAMA, mode, H200_BLOCKS, true, new AttentionPlanner.Limits(512, 4096, maxPartials));
  }
}
