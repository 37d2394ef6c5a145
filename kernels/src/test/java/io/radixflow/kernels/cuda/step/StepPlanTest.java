package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.kernels.sampling.TokenMask;
import java.nio.IntBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StepPlanTest {
  private static final int VOCAB = 100;
  private static final int PAGES = 20;
  private static final int RING_BASE = 7;

  private final StepLayout layout = new StepLayout(16, 8, 2, 200);
  private final StepPlan plan = new StepPlan(layout, VOCAB, 64);
  private final IntBuffer ints = IntBuffer.allocate(layout.ints());
  private final Batch batch = new Batch();

  private static final StepTicket EARLIER = new Pending();

  private void take() {
    plan.take(ints, batch, PAGES, 16, (ticket, output) -> 40 + output, RING_BASE);
  }

  private int[] at(int offset, int count) {
    int[] values = new int[count];
    ints.get(offset, values);
    return values;
  }

  @Test
  void rowsOfAPrefillChunkGoToConsecutiveSlotsOfTheirPages() {
    batch.beginChunk(new int[] {9, 3}, 2, 14);
    batch.token(5);
    batch.token(6);
    batch.token(7);
    take();
    assertThat(at(StepLayout.ROWS, 5)).containsExactly(3, 1, 0, 0, RING_BASE);
    assertThat(at(layout.rowToken(), 3)).containsExactly(5, 6, 7);
    assertThat(at(layout.rowPosition(), 3)).containsExactly(14, 15, 16);
    assertThat(at(layout.rowSlot(), 3)).containsExactly(9 * 16 + 14, 9 * 16 + 15, 3 * 16);
    assertThat(at(layout.chunkFirstRow(), 2)).containsExactly(0, 3);
    assertThat(at(layout.chunkPageStart(), 2)).containsExactly(0, 2);
    assertThat(at(layout.tail(), 2)).containsExactly(9, 3);
    assertThat(plan.decodeOnly()).isFalse();
  }

  @Test
  void aTokenThatAnEarlierStepDrawsIsReadFromTheRing() {
    batch.beginChunk(new int[] {1}, 1, 4);
    batch.tokenFrom(EARLIER, 2);
    take();
    assertThat(ints.get(layout.rowToken())).isEqualTo(-1 - 42);
    assertThat(plan.decodeOnly()).isTrue();
  }

  @Test
  void theCounterAndThePenaltiesCountATokenThatIsStillBeingDrawn() {
    SamplingParams params =
        new SamplingParams(1, 5, 0.5f, 0.1f, 1.5f, 0.25f, 0.5f, Map.of(), 0x1122334455667788L, 3);
    SamplingState state = new SamplingState(params, new int[] {1, 2}, new int[] {2, 3}, VOCAB);
    batch.beginChunk(new int[] {1}, 1, 4);
    batch.tokenFrom(EARLIER, 2);
    batch.output(state, Batch.LOGPROBS);
    take();
    int at = layout.sampling();
    assertThat(ints.get(at))
        .isEqualTo(SamplingRecord.SAMPLE | SamplingRecord.LOGPROBS | SamplingRecord.PENALTIES);
    assertThat(ints.get(at + 1)).as("counter").isEqualTo(3);
    assertThat(at(at + 8, 2)).as("seed").containsExactly(0x55667788, 0x11223344);
    assertThat(ints.get(at + 10)).as("top k").isEqualTo(5);
    assertThat(ints.get(at + 12)).as("adjustments").isEqualTo(3);
    assertThat(ints.get(at + 16)).as("pending").isEqualTo(42);
  }

  @Test
  void adjustmentsNameEachTokenOnceWithItsCountAndItsBias() {
    SamplingParams params =
        new SamplingParams(
            1, 0, 1, 0, 1, 0.5f, 0, Map.of(3, 2f, 9, -100f), 0L, SamplingParams.GREEDY.topK());
    SamplingState state = new SamplingState(params, new int[] {1}, new int[] {3, 3, 4}, VOCAB);
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(5);
    batch.output(null, Batch.LOGITS);
    batch.output(state, Batch.TOKEN);
    take();
    int first = ints.get(StepLayout.ADJUSTMENTS);
    assertThat(first % 4).isZero();
    assertThat(at(layout.outputRow(), 2)).containsExactly(0, 0);
    assertThat(ints.get(layout.sampling())).as("no draw").isZero();
    int two = Float.floatToRawIntBits(2f);
    int ban = Float.floatToRawIntBits(-100f);
    int[] written = at(first, 12);
    assertThat(IntStream.range(0, 3))
        .extracting(i -> List.of(written[4 * i], written[4 * i + 1], written[4 * i + 2]))
        .containsExactlyInAnyOrder(List.of(3, 2, two), List.of(4, 1, 0), List.of(9, -1, ban));
    assertThat(plan.ints()).isEqualTo(first + 12);
  }

  private static SamplingState greedy() {
    return new SamplingState(SamplingParams.GREEDY, new int[0], new int[0], VOCAB);
  }

  @Test
  void aMaskThatRowsShareInSuccessionIsSentOnce() {
    long[] shared = {-1L, 0xf00000001L};
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(5);
    batch.output(greedy(), Batch.TOKEN, shared);
    batch.output(greedy(), Batch.TOKEN, shared);
    batch.output(greedy(), Batch.TOKEN);
    batch.output(greedy(), Batch.TOKEN, TokenMask.of(VOCAB, 2));
    batch.output(null, Batch.LOGITS, shared);
    take();
    int[] place = new int[5];
    for (int output = 0; output < place.length; output++) {
      place[output] = ints.get(layout.sampling() + output * StepLayout.SAMPLING_INTS + 18);
    }
    assertThat(place).containsExactly(place[0], place[0], 0, place[0] + 4, 0);
    assertThat(at(place[0], 8)).containsExactly(-1, -1, 1, 15, 4, 0, 0, 0);
    assertThat(plan.ints()).isEqualTo(place[0] + 8);
  }

  @Test
  void masksThatDoNotFitAStepAreRefused() {
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(5);
    for (int i = 0; i < 16; i++) {
      batch.output(greedy(), Batch.TOKEN, TokenMask.of(VOCAB, i));
    }
    take();
    batch.clear();
    batch.beginChunk(IntStream.range(0, 4).toArray(), 4, 0);
    for (int i = 0; i < 16; i++) {
      batch.token(5);
      batch.output(withBiases(3), Batch.TOKEN, TokenMask.of(VOCAB, i));
    }
    assertThatThrownBy(this::take)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("token masks of a step of 16 rows take more than 200 integers");
  }

  private static SamplingState withBiases(int count) {
    Map<Integer, Float> bias = new HashMap<>();
    for (int id = 0; id < count; id++) {
      bias.put(id, 1f);
    }
    SamplingParams params = new SamplingParams(1, 0, 1, 0, 1, 0, 0, bias, 0L, -1);
    return new SamplingState(params, new int[0], new int[0], VOCAB);
  }

  @Test
  void paddingWritesToTheDummyPage() {
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(5);
    take();
    plan.pad(4, PAGES * 16, 16);
    assertThat(ints.get(StepLayout.ROWS)).isEqualTo(1);
    assertThat(ints.get(StepLayout.PADDED_ROWS)).isEqualTo(4);
    assertThat(at(layout.rowSlot(), 4)).containsExactly(16, 320, 320, 320);
    assertThat(at(layout.rowPartSlot() + 1, 3)).containsExactly(16, 16, 16);
    assertThat(at(layout.rowToken(), 4)).containsExactly(5, 0, 0, 0);
  }

  @Test
  void aPageOutsideThePoolIsRefused() {
    batch.beginChunk(new int[] {PAGES}, 1, 0);
    batch.token(5);
    assertThatThrownBy(this::take).hasMessage("page 20 is not in a pool of 20 pages");
  }

  @Test
  void aTokenOutsideTheVocabularyIsRefused() {
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(VOCAB);
    assertThatThrownBy(this::take).hasMessage("token 100 is not in 0 to 99");
  }

  @Test
  void aPositionBeyondTheContextIsRefused() {
    batch.beginChunk(new int[] {1, 2, 3, 4, 5}, 5, 63);
    batch.token(5);
    batch.token(5);
    assertThatThrownBy(this::take).hasMessage("positions 63 to 64 exceed the context of 64");
  }

  @Test
  void outputsAreCountedInBlocks() {
    batch.beginChunk(new int[] {1}, 1, 0);
    for (int i = 0; i < 6; i++) {
      batch.token(5);
      batch.output(null, Batch.LOGITS);
    }
    take();
    assertThat(layout.blockOutputs()).isEqualTo(4);
    assertThat(at(StepLayout.BLOCK_OUTPUTS, 4)).containsExactly(4, 2, 0, 0);
  }

  @Test
  void attentionIsPlannedForTheChunksOfTheBatch() {
    AttentionShape shape = new AttentionShape(4, 2, 64, 16);
    AttentionPlanner planner =
        new AttentionPlanner(
            shape,
            GpuMode.DETERMINISTIC,
            2,
            true,
            new AttentionPlanner.Limits(16, layout.maxTiles(), 64));
    batch.beginChunk(new int[] {1, 2, 3}, 3, 40);
    batch.token(5);
    batch.beginChunk(new int[] {4}, 1, 0);
    batch.token(6);
    batch.token(7);
    take();
    plan.attention(1, planner);
    assertThat(ints.get(layout.plan(1) + StepLayout.TILES)).isEqualTo(2);
    assertThat(ints.get(layout.plan(1) + StepLayout.KEY_TILES)).isEqualTo(2);
    assertThat(at(layout.tiles(1), 8)).containsExactly(0, 0, 0, 1, 1, 0, 0, 1);
    assertThat(ints.get(layout.merge(1))).isEqualTo(-1);
  }
}
