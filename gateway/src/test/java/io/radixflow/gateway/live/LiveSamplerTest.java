package io.radixflow.gateway.live;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class LiveSamplerTest {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int NEVER_IDLE = 600_000;

  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();
  private volatile boolean failing;
  private volatile CountDownLatch maySample = new CountDownLatch(0);

  private final class Counting implements LiveSampler.Source {
    private int samples;

    Counting() {
      opened.incrementAndGet();
    }

    @Override
    public byte[] sample(BooleanSupplier stopped) throws InterruptedException {
      maySample.await();
      if (failing) {
        throw new IllegalStateException("it fails");
      }
      return Integer.toString(++samples).getBytes(UTF_8);
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  private LiveSampler sampler(int idleMillis) {
    return new LiveSampler(
        "samples",
        1,
        idleMillis,
        Counting::new,
        "starting".getBytes(UTF_8),
        failure -> failure.getMessage().getBytes(UTF_8));
  }

  private static String latest(LiveSampler sampler) {
    return new String(sampler.latest(), UTF_8);
  }

  @Test
  void nothingIsOpenedBeforeSomeoneLooksAndReadersShareOneSource() {
    maySample = new CountDownLatch(1);
    try (LiveSampler sampler = sampler(NEVER_IDLE)) {
      assertThat(opened).hasValue(0);
      assertThat(latest(sampler)).isEqualTo("starting");
      maySample.countDown();
      await().atMost(PATIENCE).until(() -> !latest(sampler).equals("starting"));
      assertThat(opened).hasValue(1);
    }
    assertThat(closed).hasValue(1);
  }

  @Test
  void theSourceIsClosedWhenNoOneLooksAndOpenedAgainForTheNextReader() {
    try (LiveSampler sampler = sampler(0)) {
      sampler.latest();
      await().atMost(PATIENCE).untilAsserted(() -> assertThat(closed).hasValue(1));
      await().atMost(PATIENCE).until(() -> latest(sampler) != null && opened.get() > 1);
    }
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(closed).hasValue(opened.get()));
  }

  @Test
  void aFailureIsShownAndTheSourceOpenedAgain() {
    failing = true;
    try (LiveSampler sampler = sampler(NEVER_IDLE)) {
      await().atMost(PATIENCE).until(() -> latest(sampler).equals("it fails"));
      failing = false;
      await().atMost(PATIENCE).until(() -> latest(sampler).matches("[0-9]+"));
      assertThat(opened.get()).isEqualTo(closed.get() + 1);
    }
  }

  @Test
  void aClosedSamplerStartsNothing() {
    LiveSampler sampler = sampler(NEVER_IDLE);
    sampler.close();
    assertThat(latest(sampler)).isEqualTo("starting");
    assertThat(opened).hasValue(0);
  }

  @Test
  void closingDoesNotWaitForASampleThatWaits() throws InterruptedException {
    CountDownLatch waits = new CountDownLatch(1);
    LiveSampler.Source waiting =
        new LiveSampler.Source() {
          @Override
          public byte[] sample(BooleanSupplier stopped) throws InterruptedException {
            waits.countDown();
            new CountDownLatch(1).await();
            return new byte[0];
          }

          @Override
          public void close() {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            closed.incrementAndGet();
          }
        };
    LiveSampler sampler =
        new LiveSampler(
            "samples", 1, NEVER_IDLE, () -> waiting, new byte[0], failure -> new byte[0]);
    sampler.latest();
    waits.await();
    sampler.close();
    assertThat(closed).hasValue(1);
  }
}
