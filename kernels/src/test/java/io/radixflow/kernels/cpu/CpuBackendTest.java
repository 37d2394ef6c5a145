package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.AddressSpace;
import io.radixflow.kernels.cpu.kernel.NativeIsas;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.ScalarKernels;
import io.radixflow.kernels.cpu.step.StepProfile;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.models.TensorType;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CpuBackendTest {

  private static final SyntheticWeights WEIGHTS =
      SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
  private static final int VOCAB = WEIGHTS.config().vocabSize();
  private static final int[] PAGES = {2, 0, 3};
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private CpuBackend backend;
  private Set<Thread> before;
  private final Batch batch = new Batch();

  @BeforeEach
  void open() {
    before = backendThreads();
    backend = CpuBackend.open(WEIGHTS, new DeviceOptions("cpu", 2, KvSpec.Type.F32));
  }

  @AfterEach
  void close() {
    backend.close();
  }

  private static Set<Thread> backendThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("radixflow-cpu-"))
        .collect(Collectors.toSet());
  }

  private Set<Thread> ownThreads() {
    Set<Thread> own = backendThreads();
    own.removeAll(before);
    return own;
  }

  private Batch prompt(int[] tokens, int[] pages, SamplingState sampling, int flags) {
    batch.clear();
    batch.beginChunk(pages, pages.length, 0);
    for (int token : tokens) {
      batch.token(token);
    }
    batch.output(sampling, flags);
    return batch;
  }

  @Test
  void aProfileHasTheWorkOfEachOperationAndLeavesLogitsAsTheyAre() throws InterruptedException {
    try (KvPool pool = backend.openPool(4, CpuKvPool.PAGE_TOKENS)) {
      float[] expected = logits(3, 1, 4);
      StepProfile profile = new StepProfile();
      backend.profile(profile);
      float[] profiled = logits(3, 1, 4);
      backend.profile(null);
      logits(2, 7, 1);

      assertThat(profiled).containsExactly(expected);
      assertThat(profile.steps()).isEqualTo(1);
      assertThat(profile.phases())
          .extracting(StepProfile.Phase::name)
          .contains("embedding", "norms", "rotation and storing", "attention", "gate", "draws")
          .anyMatch(name -> name.startsWith("qkv, "))
          .anyMatch(name -> name.startsWith("gate_up, "))
          .anyMatch(name -> name.startsWith("down, "));
      StepProfile.Phase head =
          profile.phases().stream()
              .filter(phase -> phase.name().startsWith("head, "))
              .findFirst()
              .orElseThrow();
      assertThat(head.multiplyAdds()).isEqualTo((long) VOCAB * WEIGHTS.config().hiddenSize());
      assertThat(profile.phases().stream().mapToLong(StepProfile.Phase::nanos).sum())
          .isPositive()
          .isLessThanOrEqualTo(profile.nanos());
    }
  }

  private float[] logits(int... tokens) throws InterruptedException {
    StepTicket ticket = backend.submit(prompt(tokens, PAGES, null, Batch.LOGITS));
    ticket.await();
    float[] logits = new float[VOCAB];
    ticket.logits(0, logits);
    return logits;
  }

  @Test
  void aTokenMayComeFromAnEarlierTicketThatIsNotDone() throws InterruptedException {
    backend.openPool(4, 16);
    int[] prompt = {5, 6, 7};
    StepTicket first = backend.submit(prompt(prompt, PAGES, Sequences.greedy(VOCAB), Batch.TOKEN));
    Batch next = new Batch();
    next.beginChunk(PAGES, PAGES.length, 3);
    next.tokenFrom(first, 0);
    next.output(Sequences.greedy(VOCAB), Batch.TOKEN);
    StepTicket second = backend.submit(next);
    second.await();
    int chained = second.token(0);
    int[] spelled = Arrays.copyOf(prompt, 4);
    spelled[3] = first.token(0);
    StepTicket alone =
        Sequences.run(backend, prompt(spelled, PAGES, Sequences.greedy(VOCAB), Batch.TOKEN));
    assertThat(chained).isEqualTo(alone.token(0));
  }

  @Test
  void logprobsAndLogitsAreThoseOfTheSoftmax() throws InterruptedException {
    backend.openPool(4, 16);
    SamplingParams params = new SamplingParams(0f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), 1L, 5);
    SamplingState state = new SamplingState(params, new int[0], new int[0], VOCAB);
    StepTicket ticket =
        Sequences.run(backend, prompt(new int[] {9}, PAGES, state, Batch.LOGPROBS | Batch.LOGITS));
    float[] logits = new float[VOCAB];
    ticket.logits(0, logits);
    double sum = 0;
    int best = 0;
    for (int i = 0; i < VOCAB; i++) {
      sum += Math.exp(logits[i]);
      best = logits[i] > logits[best] ? i : best;
    }
    int[] ids = new int[20];
    float[] logprobs = new float[20];
    assertThat(ticket.token(0)).isEqualTo(best);
    assertThat(ticket.topLogprobs(0, ids, logprobs)).isEqualTo(5);
    assertThat(ids[0]).isEqualTo(best);
    assertThat((double) ticket.logprob(0)).isCloseTo(logits[best] - Math.log(sum), within());
    assertThat(state.counter()).isEqualTo(1);
  }

  private static Offset<Double> within() {
    return Offset.offset(1e-5);
  }

  @Test
  void aFailingStepFailsItsTicketAloneAndDrawsNothing() throws InterruptedException {
    backend.openPool(4, 16);
    for (Batch bad :
        new Batch[] {
          prompt(new int[] {VOCAB}, PAGES, null, Batch.LOGITS),
          prompt(new int[] {1}, new int[] {4}, null, Batch.LOGITS),
          prompt(new int[17], new int[] {1}, null, Batch.LOGITS)
        }) {
      SamplingState state = Sequences.greedy(VOCAB);
      bad.output(state, Batch.TOKEN);
      StepTicket ticket = backend.submit(bad);
      ticket.await();
      assertThat(ticket.failure()).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> ticket.token(0)).isInstanceOf(IllegalStateException.class);
      assertThat(state.counter()).isZero();
    }
    StepTicket good =
        Sequences.run(backend, prompt(new int[] {1}, PAGES, Sequences.greedy(VOCAB), Batch.TOKEN));
    assertThat(good.token(0)).isBetween(0, VOCAB - 1);
  }

  @Test
  void callbacksRunWhenAStepEndsAndAtOnceWhenItHasEnded() throws InterruptedException {
    backend.openPool(4, 16);
    CountDownLatch latch = new CountDownLatch(2);
    StepTicket ticket =
        backend.submit(prompt(new int[] {1}, PAGES, Sequences.greedy(VOCAB), Batch.TOKEN));
    ticket.whenDone(latch::countDown);
    ticket.await();
    ticket.whenDone(latch::countDown);
    assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aStepWithoutPoolFails() throws InterruptedException {
    StepTicket ticket = backend.submit(prompt(new int[] {1}, PAGES, null, Batch.LOGITS));
    ticket.await();
    assertThat(ticket.failure()).hasMessageContaining("pool");
  }

  @Test
  void poolsOfImpossibleSizesAreRefused() {
    assertThatThrownBy(() -> backend.openPool(4, 32)).hasMessageContaining("32 tokens");
    assertThatThrownBy(() -> backend.openPool(0, 16)).hasMessageContaining("too small");
    assertThatThrownBy(() -> backend.openPool(Integer.MAX_VALUE, 16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the machine has")
        .hasMessageContaining("MB are available");
    try (KvPool pool = backend.openPool(3, 16)) {
      assertThat(pool.pageBytes()).isEqualTo(backend.kvSpec().bytesPerToken() * 16);
      assertThatThrownBy(() -> backend.openPool(3, 16)).isInstanceOf(IllegalStateException.class);
    }
    assertThat(backend.openPool(3, 16).pages()).isEqualTo(3);
  }

  @Test
  void aPoolIsClosedAfterTheStepsInFlight() throws InterruptedException {
    KvPool pool = backend.openPool(4, 16);
    int[] tokens = new int[48];
    StepTicket first = backend.submit(prompt(tokens, PAGES, null, Batch.LOGITS));
    Batch next = new Batch();
    next.beginChunk(PAGES, PAGES.length, 0);
    next.token(1);
    StepTicket second = backend.submit(next);

    pool.close();

    first.await();
    second.await();
    assertThat(first.failure()).isNull();
    assertThat(second.failure()).isNull();
  }

  @Test
  void aClosedPoolGivesItsMemoryBack() throws IOException {
    NativeIsas.required();
    int pages = (int) ((64 << 20) / (16 * backend.kvSpec().bytesPerToken()));
    long before = AddressSpace.megabytes();
    for (int i = 0; i < 100; i++) {
      KvPool pool = backend.openPool(pages, 16);
      pool.openHostPages(pages).close();
      pool.close();
      pool.close();
    }
    assertThat(AddressSpace.megabytes() - before).isLessThan(50 * 64);
  }

  @Test
  void theEpochDependsOnTheKvType() {
    try (CpuBackend same = CpuBackend.open(WEIGHTS, new DeviceOptions("cpu", 1, KvSpec.Type.F32));
        CpuBackend half = CpuBackend.open(WEIGHTS, new DeviceOptions("cpu", 1, KvSpec.Type.F16));
        CpuBackend eighth =
            CpuBackend.open(WEIGHTS, new DeviceOptions("cpu", 1, KvSpec.Type.FP8))) {
      assertThat(same.numericsEpoch()).isEqualTo(backend.numericsEpoch()).hasSize(16);
      assertThat(half.numericsEpoch()).isNotEqualTo(backend.numericsEpoch());
      assertThat(eighth.numericsEpoch())
          .isNotEqualTo(backend.numericsEpoch())
          .isNotEqualTo(half.numericsEpoch());
    }
  }

  @Test
  void anIdleBackendParksAllItsThreads() throws InterruptedException {
    backend.openPool(4, 16);
    Sequences.run(backend, prompt(new int[] {1}, PAGES, Sequences.greedy(VOCAB), Batch.TOKEN));
    assertThat(ownThreads()).hasSize(2);
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(ownThreads())
                    .allMatch(thread -> thread.getState() == Thread.State.WAITING));
  }

  @Test
  void withoutAKvTypeHalvesAreKeptAndActivationsAreIntegers() {
    try (CpuBackend plain = CpuBackend.open(WEIGHTS, new DeviceOptions("cpu", 1, null));
        CpuBackend half = CpuBackend.open(WEIGHTS, new DeviceOptions("cpu", 1, KvSpec.Type.F16))) {
      assertThat(plain.kvSpec()).isEqualTo(half.kvSpec());
      assertThat(plain.numericsEpoch()).isEqualTo(half.numericsEpoch());
      assertThat(plain.description()).startsWith(CpuBackend.instructions()).contains("KV f16");
      assertThat(backend.description()).doesNotContain("products").contains("KV f32");
    }
  }

  static Stream<Arguments> products() {
    NativeKernels fast = NativeKernels.fastest().map(NativeKernels::new).orElse(null);
    return Stream.of(
        Arguments.of(KvSpec.Type.F32, null),
        Arguments.of(KvSpec.Type.F16, null),
        Arguments.of(KvSpec.Type.F16, fast));
  }

  /**
   * Scalar kernels: vectors are objects until C2 has compiled their loops. Code that is compiled
   * anew meanwhile may make objects once, so the best of some windows counts.
   */
  @ParameterizedTest
  @MethodSource("products")
  void decodingDoesNotAllocate(KvSpec.Type kvType, NativeKernels fast) throws InterruptedException {
    DeviceOptions options = new DeviceOptions("cpu", 1, kvType);
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    backend.close();
    before = backendThreads();
    backend = CpuBackend.open(WEIGHTS, options, new ScalarKernels(), fast);
    backend.openPool(4, 16);
    SamplingState sampling = Sequences.greedy(VOCAB);
    long dispatcher = ownThreads().iterator().next().getId();
    long allocatedBefore = 0;
    long least = Long.MAX_VALUE;
    for (int position = 0; position < 48; position++) {
      batch.clear();
      batch.beginChunk(PAGES, PAGES.length, position);
      batch.token(position);
      batch.output(sampling, Batch.TOKEN);
      Sequences.run(backend, batch);
      if (position % 8 == 7) {
        long allocated = threads.getThreadAllocatedBytes(dispatcher);
        least = Math.min(least, allocated - allocatedBefore);
        allocatedBefore = allocated;
      }
    }
    assertThat(least).isLessThan(512);
  }

  @Test
  void closingEndsAllThreadsAndIsIdempotent() {
    Set<Thread> own = ownThreads();
    backend.close();
    backend.close();
    await().atMost(PATIENCE).until(() -> own.stream().noneMatch(Thread::isAlive));
    assertThatThrownBy(() -> backend.submit(prompt(new int[] {1}, PAGES, null, Batch.LOGITS)))
        .isInstanceOf(IllegalStateException.class);
  }
}
