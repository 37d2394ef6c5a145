package io.radixflow.operators.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class StoreUpkeepTest {
  @Test
  void workGoesOnAfterAnError() throws InterruptedException {
    CountDownLatch done = new CountDownLatch(3);
    Runnable fails =
        () -> {
          done.countDown();
          throw new OutOfMemoryError("Cannot reserve direct buffer memory");
        };
    try (StoreUpkeep upkeep = new StoreUpkeep("upkeep", () -> true, fails)) {
      assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
    }
  }
}
