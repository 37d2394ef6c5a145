package io.radixflow.gateway;

import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Routes;
import io.vertx.core.http.HttpMethod;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** {@code GET /metrics}: the gateway's metrics in Prometheus' text form. */
record MetricsPage(PrometheusRegistry registry) implements EndpointGroup {

  @Override
  public void addTo(Routes routes) {
    routes.addOpen(HttpMethod.GET, "/metrics", this::write);
  }

  private void write(Exchange exchange) {
    PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      writer.write(text, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    exchange.send(200, writer.getContentType(), text.toByteArray());
  }
}
