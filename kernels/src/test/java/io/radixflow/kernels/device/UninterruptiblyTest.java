package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UninterruptiblyTest {

  @Test
  void anInterruptedWaitCompletesAndKeepsTheInterrupt() {
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger waits = new AtomicInteger();
    Thread.currentThread().interrupt();

    Uninterruptibly.await(
        () -> {
          if (waits.incrementAndGet() == 2) {
            end.countDown();
          }
          end.await();
        });

    assertThat(waits).hasValue(2);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void anUndisturbedWaitLeavesNoInterrupt() {
    Uninterruptibly.await(() -> {});

    assertThat(Thread.interrupted()).isFalse();
  }
}
