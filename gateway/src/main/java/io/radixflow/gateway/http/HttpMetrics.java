package io.radixflow.gateway.http;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;

/** Counts requests and streams. Thread-safe. */
public final class HttpMetrics {

  private final Counter requests;
  private final Histogram durations;
  private final Gauge streams;
  private final Gauge connections;
  private final Counter refused;

  public HttpMetrics(PrometheusRegistry registry) {
    requests =
        Counter.builder()
            .name("radixflow_gateway_requests")
            .help("Requests by route and status; 499 stands for a client that went away")
            .labelNames("route", "status")
            .register(registry);
    durations =
        Histogram.builder()
            .name("radixflow_gateway_request_duration_seconds")
            .help("Time from a request's headers to the end of its response")
            .unit(Unit.SECONDS)
            .labelNames("route")
            .classicUpperBounds(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300)
            .classicOnly()
            .register(registry);
    streams =
        Gauge.builder()
            .name("radixflow_gateway_open_streams")
            .help("Streams of server-sent events that are open")
            .register(registry);
    connections =
        Gauge.builder()
            .name("radixflow_gateway_open_connections")
            .help("Connections of clients that are open")
            .register(registry);
    refused =
        Counter.builder()
            .name("radixflow_gateway_connections_refused")
            .help("Connections that were closed at once because gateway.max-connections were open")
            .register(registry);
  }

  /**
   * Counts a request that has ended.
   *
   * @param route path of its route, with braces
   * @param startNanos start of the request
   */
  void request(String route, int status, long startNanos) {
    requests.labelValues(route, Integer.toString(status)).inc();
    durations.labelValues(route).observe((System.nanoTime() - startNanos) / 1e9);
  }

  void connectionOpened() {
    connections.inc();
  }

  void connectionClosed() {
    connections.dec();
  }

  void connectionRefused() {
    refused.inc();
  }

  void streamOpened() {
    streams.inc();
  }

  void streamClosed() {
    streams.dec();
  }
}
