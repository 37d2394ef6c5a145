package io.radixflow.engine.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.text.SimTokenizer;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class SimBackendTest {
  private static final int[] TOKENS = IntStream.range(0, 40).map(i -> 'a' + i % 26).toArray();

  private Backend backend = open(SimOptions.DEFAULT.withPoison(true));
  private KvPool pool = backend.openPool(16, 4);

  private static Backend open(SimOptions options) {
    return SimModel.open(options).openBackend(DeviceOptions.DEFAULT);
  }

  private void reopen(SimOptions options, int pages, int pageTokens) {
    backend.close();
    backend = open(options);
    pool = backend.openPool(pages, pageTokens);
  }

  @AfterEach
  void close() {
    pool.close();
    backend.close();
  }

  private static int[] pages(int first) {
    return IntStream.range(first, first + 10).toArray();
  }

  private static SamplingState greedy() {
    return new SamplingState(SamplingParams.GREEDY, TOKENS, new int[0], SimTokenizer.VOCAB);
  }

  private static StepTicket done(StepTicket ticket) throws InterruptedException {
    ticket.await();
    return ticket;
  }

  /** Computes the tokens in chunks; returns the logits of the last row. */
  private float[] logits(int[] table, int from, int chunk) throws InterruptedException {
    StepTicket ticket = null;
    for (int start = from; start < TOKENS.length; start += chunk) {
      Batch batch = new Batch();
      batch.beginChunk(table, table.length, start);
      for (int i = start; i < Math.min(TOKENS.length, start + chunk); i++) {
        batch.token(TOKENS[i]);
      }
      batch.output(null, Batch.LOGITS);
      ticket = done(backend.submit(batch));
      assertThat(ticket.failure()).isNull();
    }
    float[] logits = new float[SimTokenizer.VOCAB];
    ticket.logits(0, logits);
    return logits;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8, 16, 32, 64, 128})
  void logitsDependOnThePrefixAlone(int pageTokens) throws InterruptedException {
    float[] whole = logits(pages(0), 0, 40);
    reopen(SimOptions.DEFAULT, 64, pageTokens);
    for (int chunk : new int[] {1, 7, 40}) {
      int[] scattered = IntStream.range(0, 40).map(i -> (i * 11 + 5 * chunk) % 64).toArray();
      assertThat(logits(scattered, 0, chunk)).isEqualTo(whole);
    }
  }

  @Test
  void aPageOfAnotherPrefixGivesOtherLogits() throws InterruptedException {
    float[] right = logits(pages(0), 0, 40);
    int[] swapped = pages(0);
    swapped[2] = 3;
    swapped[3] = 2;
    assertThat(logits(swapped, 20, 20)).isNotEqualTo(right);
    assertThat(logits(pages(0), 20, 20)).isEqualTo(right);
  }

  @Test
  void aDiscardedPageIsPoisonedAfterTheStepsBeforeIt() throws InterruptedException {
    float[] right = logits(pages(0), 0, 40);
    pool.discard(1);
    assertThat(logits(pages(0), 20, 20)).isNotEqualTo(right);
  }

  @Test
  void aStepMayTakeItsInputFromOneInFlight() throws InterruptedException {
    Semaphore steps = new Semaphore(0);
    reopen(
        SimOptions.DEFAULT
            .withEndOfTurn(0)
            .withTime(1, 0)
            .withClock(nanos -> steps.acquireUninterruptibly()),
        32,
        4);
    SamplingState state = greedy();
    Batch first = new Batch();
    first.beginChunk(pages(0), 10, 0);
    first.token(TOKENS[0]);
    int output = first.output(state, Batch.TOKEN);
    StepTicket one = backend.submit(first);
    Batch second = new Batch();
    second.beginChunk(pages(0), 10, 1);
    second.tokenFrom(one, output);
    second.output(state, Batch.TOKEN);
    StepTicket two = backend.submit(second);
    assertThat(one.isDone()).isFalse();
    steps.release(2);
    int token = done(two).token(0);

    Batch literal = new Batch();
    literal.beginChunk(pages(0), 10, 1);
    literal.token(one.token(output));
    literal.output(greedy(), Batch.TOKEN);
    steps.release();
    assertThat(done(backend.submit(literal)).token(0)).isEqualTo(token);
    assertThat(state.counter()).isEqualTo(2);
  }

  @Test
  void aFailedStepFailsThoseThatNeedItsTokensAndNoOther() throws InterruptedException {
    reopen(SimOptions.DEFAULT.withFault(SimFault.onToken(7)), 32, 4);
    Batch poisoned = new Batch();
    poisoned.beginChunk(pages(0), 10, 0);
    poisoned.token(7);
    int output = poisoned.output(greedy(), Batch.TOKEN);
    StepTicket failed = backend.submit(poisoned);
    Batch next = new Batch();
    next.beginChunk(pages(0), 10, 1);
    next.tokenFrom(failed, output);
    assertThat(done(backend.submit(next)).failure()).isNotNull();
    assertThat(failed.failure()).hasMessageContaining("injected fault");
    assertThat(logits(pages(0), 0, 40)).hasSize(SimTokenizer.VOCAB);
  }

  @Test
  void aRowBeyondItsPagesFailsTheStep() throws InterruptedException {
    Batch batch = new Batch();
    batch.beginChunk(pages(0), 2, 8);
    batch.token('a');
    assertThat(done(backend.submit(batch)).failure()).hasMessageContaining("beyond 2 pages");
  }

  private static final SimOptions WINDOWED = SimOptions.DEFAULT.withPoison(true).withWindow(10);

  private void reopen(int parts) {
    backend.close();
    backend = open(WINDOWED);
    pool = backend.openPool(16, parts, 4);
  }

  @Test
  void aWindowChangesLogitsAndWherePartsLieDoesNot() throws InterruptedException {
    float[] without = logits(pages(0), 0, 40);
    reopen(0);
    float[] whole = logits(pages(0), 0, 40);
    assertThat(whole).isNotEqualTo(without);
    assertThat(logits(pages(3), 0, 7)).isEqualTo(whole);
    reopen(12);
    for (int i = 0; i < 10; i++) {
      pool.mapWindow(pages(2)[i], 11 - i);
    }
    assertThat(logits(pages(2), 0, 7)).isEqualTo(whole);
  }

  /** Queries from position 24 on see those from 15 on: pages 3 to 9. */
  @Test
  void onlyThePartsOfTheWindowAreRead() throws InterruptedException {
    reopen(10);
    for (int page = 0; page < 10; page++) {
      pool.mapWindow(page, page);
    }
    float[] whole = logits(pages(0), 0, 40);
    for (int page = 0; page < 3; page++) {
      pool.mapWindow(page, -1);
      pool.discardPart(page);
    }
    assertThat(logits(pages(0), 24, 40)).isEqualTo(whole);
    pool.discardPart(3);
    assertThat(logits(pages(0), 24, 40)).isNotEqualTo(whole);
  }

  @Test
  void aQueryThatSeesAPageWithoutPartFailsItsStep() throws InterruptedException {
    reopen(4);
    pool.mapWindow(1, 0);
    Batch batch = new Batch();
    batch.beginChunk(pages(0), 10, 4);
    batch.token('a');
    assertThat(done(backend.submit(batch)).failure())
        .hasMessageContaining("page 0 has no window part");
  }
}
