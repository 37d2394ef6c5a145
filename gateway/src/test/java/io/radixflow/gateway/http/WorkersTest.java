package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class WorkersTest {

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final Workers workers = new Workers(Map.of());

  @AfterEach
  void close() {
    workers.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private static <T> T join(Future<T> future) {
    return future.toCompletionStage().toCompletableFuture().join();
  }

  @Test
  void workWaitsForTheWorkThatRunsWhateverAnotherTenantHasQueued() throws Exception {
    CountDownLatch busy = new CountDownLatch(Workers.THREADS);
    CountDownLatch gate = new CountDownLatch(1);
    List<String> order = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      all.add(
          workers.run(
              "flood",
              context,
              () -> {
                busy.countDown();
                gate.await();
                return order.add("flood");
              }));
    }
    busy.await();
    all.add(workers.run("patient", context, () -> order.add("patient")));
    gate.countDown();
    join(Future.all(all));

    assertThat(order.indexOf("patient")).isBetween(0, 2 * Workers.THREADS);
  }

  @Test
  void whatWorkThrowsIsTheFuturesAndOtherWorkGoesOn() {
    Future<String> failed =
        workers.run(
            "a",
            context,
            () -> {
              throw new StackOverflowError("deep");
            });
    assertThatThrownBy(() -> join(failed)).hasRootCauseMessage("deep");
    assertThat(join(workers.run("a", context, () -> "done"))).isEqualTo("done");
  }

  @Test
  void aResultCompletesOnTheContext() {
    Future<Context> on =
        workers.run("a", context, () -> "done").map(done -> Vertx.currentContext());
    assertThat(join(on)).isSameAs(context);
  }
}
