package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.Shapes;
import io.radixflow.kernels.cpu.SyntheticWeights;
import io.radixflow.models.TensorType;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Pages of devices that the CPU copies: out to the host and back, in the order of the steps. */
@Timeout(180)
class HostPageCopiesTest {
  private static final int PAGE = 16;
  private static final int LENGTH = 4 * PAGE;

  enum Device {
    SIM {
      @Override
      Backend open() {
        return SimModel.open(SimOptions.DEFAULT.withPoison(true))
            .openBackend(DeviceOptions.DEFAULT);
      }
    },
    CPU_F32 {
      @Override
      Backend open() {
        return cpu(KvSpec.Type.F32);
      }
    },
    CPU_F16 {
      @Override
      Backend open() {
        return cpu(KvSpec.Type.F16);
      }
    },
    CPU_FP8 {
      @Override
      Backend open() {
        return cpu(KvSpec.Type.FP8);
      }
    };

    abstract Backend open();

    static Backend cpu(KvSpec.Type type) {
      SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
      return CpuBackend.open(weights, new DeviceOptions("cpu", 2, type));
    }
  }

  private static int[] tokens(Backend backend, int count, long seed) {
    return Sequences.randomTokens(count, backend.model().vocabSize(), seed);
  }

  /** A decode step behind the first {@link #LENGTH} tokens; the ticket may not be done. */
  private static StepTicket decode(Backend backend, int... pages) {
    Batch batch = new Batch();
    batch.beginChunk(pages, pages.length, LENGTH);
    batch.token(7);
    batch.output(null, Batch.LOGITS);
    return backend.submit(batch);
  }

  private static float[] logits(Backend backend, StepTicket ticket) throws InterruptedException {
    ticket.await();
    assertThat(ticket.failure()).isNull();
    float[] logits = new float[backend.model().vocabSize()];
    ticket.logits(0, logits);
    return logits;
  }

  @ParameterizedTest
  @EnumSource
  void aStepRightAfterALoadSeesThePagesThatCameBack(Device device) throws Exception {
    try (Backend backend = device.open();
        KvPool pool = backend.openPool(16, PAGE);
        HostPages host = pool.openHostPages(8)) {
      Sequences.logits(backend, tokens(backend, LENGTH, 8), LENGTH, new int[] {3, 1, 4, 2});
      float[] expected = logits(backend, decode(backend, 3, 1, 4, 2, 5));
      Transfer away = pool.copyOut(new int[] {3, 1, 4, 2}, host, new int[] {0, 6, 2, 7}, 4);
      away.await();
      assertThat(away.isDone()).isTrue();
      int[] other = tokens(backend, 5 * PAGE, 1);
      Sequences.logits(backend, other, other.length, new int[] {1, 2, 3, 4, 5});

      Transfer back = pool.copyIn(new int[] {10, 2, 12, 1}, host, new int[] {0, 6, 2, 7}, 4);
      float[] loaded = logits(backend, decode(backend, 10, 2, 12, 1, 5));

      assertThat(loaded).isEqualTo(expected);
      assertThat(back.isDone()).isTrue();
      assertThat(back.failure()).isNull();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCopyOutSeesTheStepsSubmittedBefore(Device device) throws Exception {
    try (Backend backend = device.open();
        KvPool pool = backend.openPool(16, PAGE);
        HostPages host = pool.openHostPages(4)) {
      int[] pages = IntStream.range(0, 4).toArray();
      Batch batch = new Batch();
      batch.beginChunk(pages, pages.length, 0);
      for (int token : tokens(backend, LENGTH, 8)) {
        batch.token(token);
      }
      batch.output(null, Batch.LOGITS);
      backend.submit(batch);
      Transfer away = pool.copyOut(pages, host, pages, 4);
      float[] expected = logits(backend, decode(backend, 0, 1, 2, 3, 5));
      away.await();

      pool.copyIn(new int[] {8, 9, 10, 11}, host, pages, 4);

      assertThat(logits(backend, decode(backend, 8, 9, 10, 11, 5))).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @EnumSource
  void pagesThatDoNotExistAreRefusedBeforeAnythingIsCopied(Device device) {
    try (Backend backend = device.open();
        KvPool pool = backend.openPool(4, PAGE);
        HostPages host = pool.openHostPages(2)) {
      assertThat(host.pageBytes()).isEqualTo(pool.pageBytes());
      assertThat(host.buffer(1).capacity()).isEqualTo((int) pool.pageBytes());
      assertThatThrownBy(() -> pool.copyIn(new int[] {4}, host, new int[] {0}, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> pool.copyOut(new int[] {0}, host, new int[] {2}, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }
}
