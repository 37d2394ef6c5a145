package io.radixflow.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class ConnectionCountTest {

  private static final int THREADS = 4;

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final ConnectionCount count = new ConnectionCount(THREADS, new HttpMetrics(registry));

  @Test
  void theMetricIsRightAfterConnectionsThatCameAndWentAtTheSameTime() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      CyclicBarrier start = new CyclicBarrier(THREADS);
      Callable<Void> client =
          () -> {
            for (int round = 0; round < 5_000; round++) {
              start.await();
              assertThat(count.admit()).isTrue();
              start.await();
              if (round < 4_999) {
                count.closed();
              }
            }
            return null;
          };
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
    assertThat(count.admit()).isFalse();
    assertThat(metrics())
        .contains("radixflow_gateway_open_connections 4.0")
        .contains("radixflow_gateway_connections_refused_total 1.0");
  }

  private String metrics() throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    PrometheusTextFormatWriter.create().write(text, registry.scrape());
    return text.toString();
  }
}
