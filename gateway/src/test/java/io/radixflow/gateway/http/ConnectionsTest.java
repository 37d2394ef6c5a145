package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ConnectionsTest {

  private static final int THREADS = 4;
  private static final int ROUNDS = 10_000;

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Connections count = new Connections(THREADS, 1_000, new HttpMetrics(registry));

  @Test
  void aConnectionBeyondTheLimitIsRefused() {
    for (int i = 0; i < THREADS; i++) {
      assertThat(count.admit()).isTrue();
    }
    assertThat(count.admit()).isFalse();
    CounterSnapshot refused = metric("radixflow_gateway_connections_refused");
    assertThat(refused.getDataPoints().get(0).getValue()).isEqualTo(1);
    assertThat(open()).isEqualTo(THREADS);
  }

  @Test
  void theMetricIsRightAfterConnectionsThatCameOrWentAtTheSameTime() throws Exception {
    List<Double> wrong = new ArrayList<>();
    double[] expected = {THREADS};
    CyclicBarrier together =
        new CyclicBarrier(
            THREADS,
            () -> {
              double open = open();
              if (open != expected[0]) {
                wrong.add(open);
              }
              expected[0] = THREADS - expected[0];
            });
    Callable<Void> client =
        () -> {
          for (int round = 0; round < ROUNDS; round++) {
            count.admit();
            together.await();
            count.closed();
            together.await();
          }
          return null;
        };
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<Void>> clients = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        clients.add(threads.submit(client));
      }
      for (Future<Void> each : clients) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(wrong).isEmpty();
  }

  private double open() {
    GaugeSnapshot open = metric("radixflow_gateway_open_connections");
    return open.getDataPoints().get(0).getValue();
  }

  @SuppressWarnings("unchecked")
  private <T extends MetricSnapshot> T metric(String name) {
    return (T)
        registry.scrape().stream()
            .filter(snapshot -> snapshot.getMetadata().getName().equals(name))
            .findFirst()
            .orElseThrow();
  }
}
