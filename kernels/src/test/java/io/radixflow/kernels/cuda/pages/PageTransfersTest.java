package io.radixflow.kernels.cuda.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.cuda.weights.BFloat16;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Transfer;
import io.radixflow.models.ModelConfig;
import java.nio.ByteBuffer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages that leave the pool and come back while steps run. */
class PageTransfersTest {
  private static final int[] TOKENS = Sequences.randomTokens(64, CudaModels.VOCAB, 8);

  @BeforeEach
  void requireDevice() {
    EmulatedGpu.require();
    reset();
  }

  @AfterEach
  void reset() {
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
  }

  private static CudaBackend open(ModelConfig config) {
    return CudaBackend.open(CudaModels.weights(config), new DeviceOptions("cuda", 0, null), 0);
  }

  /**
   * Models whose layers have keys and values, or compressed vectors alone; with each, lazy streams.
   */
  static Stream<Arguments> loads() {
    return Stream.of(CudaModels.llama(), CudaModels.latent(), CudaModels.unevenLatent())
        .flatMap(config -> Stream.of(false, true).map(lazy -> Arguments.of(config, lazy)));
  }

  /** A decode step at the end of 64 tokens; the ticket may not be done. */
  private static StepTicket decode(CudaBackend backend, Batch batch, int... pages) {
    batch.clear();
    batch.beginChunk(pages, pages.length, TOKENS.length);
    batch.token(7);
    batch.output(null, Batch.LOGITS);
    return backend.submit(batch);
  }

  private static float[] logits(StepTicket ticket) throws InterruptedException {
    ticket.await();
    assertThat(ticket.failure()).isNull();
    float[] logits = new float[CudaModels.VOCAB];
    ticket.logits(0, logits);
    return logits;
  }

  @ParameterizedTest
  @MethodSource("loads")
  void aStepRightAfterALoadSeesThePagesThatCameBack(ModelConfig config, boolean lazy)
      throws Exception {
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.setLazyStreams(lazy);
    }
    try (CudaBackend backend = open(config);
        KvPool pool = backend.openPool(16, 16);
        HostPages host = pool.openHostPages(8)) {
      Batch batch = new Batch();
      Sequences.logits(backend, TOKENS, TOKENS.length, new int[] {3, 1, 4, 2});
      float[] expected = logits(decode(backend, batch, 3, 1, 4, 2, 5));
      Transfer away = pool.copyOut(new int[] {3, 1, 4, 2}, host, new int[] {0, 6, 2, 7}, 4);
      away.await();
      assertThat(away.isDone()).isTrue();
      assertThat(away.failure()).isNull();
      int[] other = Sequences.randomTokens(80, CudaModels.VOCAB, 1);
      Sequences.logits(backend, other, 80, new int[] {1, 2, 3, 4, 5});

      Transfer back = pool.copyIn(new int[] {10, 2, 12, 1}, host, new int[] {0, 6, 2, 7}, 4);
      float[] loaded = logits(decode(backend, batch, 10, 2, 12, 1, 5));

      assertThat(loaded).isEqualTo(expected);
      back.await();
      assertThat(back.failure()).isNull();
      assertThat(logits(decode(backend, batch, 10, 2, 12, 1, 5))).isEqualTo(expected);
    }
  }

  /** Pages and the parts of their window go away in one transfer, and come back in another. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void windowPartsComeBackWithTheirPages(boolean lazy) throws Exception {
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.setLazyStreams(lazy);
    }
    try (CudaBackend backend = open(CudaModels.windowed());
        CudaKvPool pool = (CudaKvPool) backend.openPool(16, 6, 16);
        HostPages host = pool.openHostPages(8, 3)) {
      Batch batch = new Batch();
      int[] first = {3, 1, 4, 2, 5};
      map(pool, first, 0, 1, 2, 3, 4);
      Sequences.logits(backend, TOKENS, TOKENS.length, first);
      float[] expected = logits(decode(backend, batch, first));
      assertThat(host.pageBytes()).isEqualTo(pool.pageBytes());
      assertThat(host.buffer(8 + 2).capacity()).isEqualTo((int) pool.partBytes());
      // of the parts, those of the last two pages, which the window reaches
      int[] hostUnits = {0, 6, 2, 7, 8 + 2, 8};
      Transfer away = pool.copyOut(new int[] {3, 1, 4, 2, 16 + 2, 16 + 3}, host, hostUnits, 6);
      away.await();
      assertThat(away.failure()).isNull();
      int[] other = Sequences.randomTokens(80, CudaModels.VOCAB, 1);
      Sequences.logits(backend, other, 80, first);

      int[] second = {10, 2, 12, 1, 5};
      for (int page : first) {
        pool.mapWindow(page, -1);
      }
      map(pool, second, -1, -1, 0, 5, 1);
      pool.copyIn(new int[] {10, 2, 12, 1, 16, 16 + 5}, host, hostUnits, 6);
      float[] loaded = logits(decode(backend, batch, second));

      assertThat(loaded).isEqualTo(expected);
    }
  }

  private static void map(KvPool pool, int[] pages, int... parts) {
    for (int i = 0; i < pages.length; i++) {
      pool.mapWindow(pages[i], parts[i]);
    }
  }

  @Test
  void aPageIsNotCopiedWhereAWindowPartLies() {
    try (CudaBackend backend = open(CudaModels.windowed());
        CudaKvPool pool = (CudaKvPool) backend.openPool(4, 2, 16);
        HostPages host = pool.openHostPages(3, 2)) {
      for (int[] pair : new int[][] {{1, 3}, {4, 2}}) {
        assertThatThrownBy(() -> pool.copyIn(pair, host, new int[] {pair[1]}, 1))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("one of them is a window part");
      }
      for (int unit : new int[] {-1, 6}) {
        assertThatThrownBy(() -> pool.copyOut(new int[] {unit}, host, new int[] {unit}, 1))
            .isInstanceOf(RuntimeException.class);
      }
      assertThatThrownBy(() -> pool.openHostPages(3))
          .hasMessage("0 host window parts for a pool with 2");
    }
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void aHostPageIsOneObjectOfAllLayers() throws Exception {
    try (CudaBackend backend = open(CudaModels.llama());
        KvPool pool = backend.openPool(4, 16);
        HostPages host = pool.openHostPages(2)) {
      assertThat(host.pageBytes()).isEqualTo(pool.pageBytes());
      Sequences.logits(backend, TOKENS, 64, new int[] {0, 1, 2, 3});
      pool.copyOut(new int[] {2}, host, new int[] {1}, 1).await();
      ByteBuffer page = host.buffer(1);
      assertThat(page.capacity()).isEqualTo((int) pool.pageBytes());
      int zeros = 0;
      for (int i = 0; i < page.capacity(); i += 2) {
        float value = BFloat16.toFloat(page.getShort(i));
        assertThat(Float.isFinite(value)).as("element %d", i / 2).isTrue();
        zeros += value == 0 ? 1 : 0;
      }
      assertThat(zeros).isLessThan(10);
    }
  }
}
