package io.radixflow.kernels.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.attention.ScoreRoom;
import io.radixflow.kernels.device.Batch;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class StepRowsTest {

  private static final int CONTEXT = 1 << 20;

  private final StepRows rows = new StepRows(100, CONTEXT, new ScoreRoom(8, 8));

  private int[] blocks(int position, int count) {
    Batch batch = new Batch();
    int[] pages = Sequences.pages(position + count);
    batch.beginChunk(pages, pages.length, position);
    for (int i = 0; i < count; i++) {
      batch.token(i);
    }
    rows.take(batch, pages.length);
    return Arrays.copyOf(rows.blockRows, rows.blocks);
  }

  @Test
  void rowsOfAChunkComeInBlocks() {
    assertThat(blocks(0, 20)).containsExactly(8, 8, 4);
  }

  @Test
  void blocksBehindALongContextHaveFewerRows() {
    assertThat(blocks(131_072 - 5, 5)).containsExactly(2, 2, 1);
    assertThat(blocks(CONTEXT - 2, 2)).containsExactly(1, 1);
  }
}
