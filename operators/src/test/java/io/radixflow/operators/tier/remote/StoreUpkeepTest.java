package io.radixflow.operators.tier.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
    Erasure erasure = new Erasure();
    erasure.add(() -> {});
    try (StoreUpkeep upkeep = new StoreUpkeep("upkeep", erasure, fails)) {
      assertThat(done.await(1, TimeUnit.MINUTES)).isTrue();
    }
  }

  @Test
  void whatIsErasedIsToldWhenAllThatWasRemovedBeforeIsDestroyed() throws Exception {
    AtomicBoolean broken = new AtomicBoolean(true);
    AtomicBoolean destroyed = new AtomicBoolean();
    Erasure erasure = new Erasure();
    erasure.add(
        () -> {
          if (broken.get()) {
            throw new IOException("injected");
          }
          destroyed.set(true);
        });
    try (StoreUpkeep upkeep = new StoreUpkeep("upkeep", erasure, erasure::run)) {
      CompletableFuture<Void> erased = upkeep.erased();
      assertThat(erased).isNotDone();
      broken.set(false);
      erased.get(1, TimeUnit.MINUTES);
      assertThat(destroyed).isTrue();
    }
  }
}
