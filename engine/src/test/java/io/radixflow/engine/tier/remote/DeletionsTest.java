package io.radixflow.engine.tier.remote;

import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.equalTo;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeletionsTest {
  private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(2);
  private final Deletions deletions = new Deletions(threads);

  @AfterEach
  void shutDown() {
    threads.shutdownNow();
  }

  @Test
  void aStepIsTriedAgainAfterAnError() throws Exception {
    AtomicInteger attempts = new AtomicInteger();
    deletions.add(
        () -> {
          if (attempts.incrementAndGet() < 3) {
            throw new OutOfMemoryError("Cannot reserve direct buffer memory");
          }
        });
    deletions.done().get(1, TimeUnit.MINUTES);
    assertThat(attempts).hasValue(3);
  }

  @Test
  void allIsDoneWhenEveryStepBeforeHasSucceeded() throws Exception {
    AtomicBoolean broken = new AtomicBoolean(true);
    AtomicBoolean deleted = new AtomicBoolean();
    deletions.add(
        () -> {
          if (broken.get()) {
            throw new IOException("injected");
          }
          deleted.set(true);
        });
    deletions.add(() -> {});
    CompletableFuture<Void> done = deletions.done();
    assertThat(done).isNotDone();
    broken.set(false);
    done.get(1, TimeUnit.MINUTES);
    assertThat(deleted).isTrue();
  }

  @Test
  void aStepThatFailsHoldsUpNoneOfTheOthersAndOnlyThoseWhoWaitForIt() throws Exception {
    CompletableFuture<Void> nothing = deletions.done();
    AtomicBoolean broken = new AtomicBoolean(true);
    AtomicInteger deleted = new AtomicInteger();
    for (int i = 0; i < 3; i++) {
      deletions.add(
          () -> {
            if (broken.get()) {
              throw new IOException("injected");
            }
          });
      deletions.add(deleted::incrementAndGet);
    }
    CompletableFuture<Void> all = deletions.done();
    await().untilAtomic(deleted, equalTo(3));
    assertThat(nothing).isDone();
    assertThat(all).isNotDone();
    broken.set(false);
    all.get(1, TimeUnit.MINUTES);
  }
}
