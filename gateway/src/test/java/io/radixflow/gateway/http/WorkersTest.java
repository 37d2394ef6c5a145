package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WorkersTest {

  private final Workers workers = new Workers(Map.of());

  @AfterEach
  void close() {
    workers.close();
  }

  private <T> CompletableFuture<T> run(String tenant, Callable<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    workers.run(tenant, Runnable::run, work, done::complete, done::completeExceptionally);
    return done;
  }

  @Test
  void workWaitsForTheWorkThatRunsWhateverAnotherTenantHasQueued() throws Exception {
    CountDownLatch busy = new CountDownLatch(Workers.THREADS);
    CountDownLatch gate = new CountDownLatch(1);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<Boolean>> all = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      all.add(
          run(
              "flood",
              () -> {
                busy.countDown();
                gate.await();
                return order.add("flood");
              }));
    }
    busy.await();
    all.add(run("patient", () -> order.add("patient")));
    gate.countDown();
    all.forEach(CompletableFuture::join);

    assertThat(order.indexOf("patient")).isBetween(0, 2 * Workers.THREADS);
  }

  @Test
  void whatWorkThrowsIsItsOwnAndOtherWorkGoesOn() {
    CompletableFuture<String> failed =
        run(
            "a",
            () -> {
              throw new StackOverflowError("deep");
            });
    assertThatThrownBy(failed::join).hasRootCauseMessage("deep");
    assertThat(run("a", () -> "done").join()).isEqualTo("done");
  }
}
