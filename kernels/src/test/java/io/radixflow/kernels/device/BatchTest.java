package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BatchTest {

  @Test
  void rowsBelongToTheChunkBegunLast() {
    Batch batch = new Batch();
    for (int round = 0; round < 2; round++) {
      batch.clear();
      for (int chunk = 0; chunk < 40; chunk++) {
        batch.beginChunk(new int[] {chunk}, 1, 7 * chunk);
        for (int row = 0; row < chunk % 5; row++) {
          batch.token(100 * chunk + row);
        }
      }
      assertThat(batch.chunks()).isEqualTo(40);
      assertThat(batch.rows()).isEqualTo(80);
      for (int chunk = 0; chunk < 40; chunk++) {
        assertThat(batch.chunkRows(chunk)).isEqualTo(chunk % 5);
        assertThat(batch.chunkPosition(chunk)).isEqualTo(7 * chunk);
        for (int row = 0; row < chunk % 5; row++) {
          assertThat(batch.rowToken(batch.chunkFirstRow(chunk) + row)).isEqualTo(100 * chunk + row);
        }
      }
    }
  }

  @Test
  void anOutputIsOfTheRowAddedLast() {
    Batch batch = new Batch();
    batch.beginChunk(new int[] {0}, 1, 0);
    batch.token(5);
    batch.token(6);
    assertThat(batch.output(null, Batch.LOGITS)).isZero();
    batch.token(7);
    assertThat(batch.output(null, Batch.LOGITS)).isEqualTo(1);
    assertThat(batch.outputRow(0)).isEqualTo(1);
    assertThat(batch.outputRow(1)).isEqualTo(2);
    assertThat(batch.outputFlags(1)).isEqualTo(Batch.LOGITS);
  }

  @Test
  void aMaskIsBorrowedAndForgottenByTheNextStep() {
    Batch batch = new Batch();
    long[] mask = {5};
    for (long[] wanted : new long[][] {mask, null}) {
      batch.clear();
      batch.beginChunk(new int[] {0}, 1, 0);
      batch.token(5);
      if (wanted == null) {
        batch.output(null, Batch.LOGITS);
      } else {
        batch.output(null, Batch.LOGITS, wanted);
      }
      assertThat(batch.outputMask(0)).isSameAs(wanted);
    }
  }
}
