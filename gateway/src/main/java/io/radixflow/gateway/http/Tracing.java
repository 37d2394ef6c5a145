package io.radixflow.gateway.http;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.vertx.core.http.HttpServerRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exports a span of each request to an OpenTelemetry collector over OTLP/HTTP, if one is
 * configured. A span joins the client's trace if the client names a sampled trace. The job's events
 * get the span as their parent. If the collector does not answer, spans are lost, but requests are
 * not affected.
 */
final class Tracing implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Tracing.class);
  private static final RequestSpan NONE = new RequestSpan(null);
  private static final int FLUSH_SECONDS = 5;

  /** Names of the operations in OpenTelemetry's conventions, by route. */
  private static final Map<String, String> OPERATIONS =
      Map.of(
          "/v1/chat/completions", "chat",
          "/v1/responses", "chat",
          "/v1/messages", "chat",
          "/v1/completions", "text_completion");

  private static final TextMapGetter<HttpServerRequest> HEADERS =
      new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(HttpServerRequest request) {
          return request.headers().names();
        }

        @Override
        public String get(HttpServerRequest request, String name) {
          return request.getHeader(name);
        }
      };

  private final SdkTracerProvider provider;
  private final Tracer tracer;

  private Tracing(SdkTracerProvider provider) {
    this.provider = provider;
    this.tracer = provider == null ? null : provider.get("io.radixflow.gateway");
  }

  /**
   * Starts exporting if the settings name a collector, or else the environment variables of
   * OpenTelemetry.
   */
  static Tracing of(Settings settings, Map<String, String> environment) {
    String url = endpoint(settings.get(GatewayConfig.OTLP_ENDPOINT), environment);
    if (url == null) {
      return new Tracing(null);
    }
    ExporterLog.install();
    OtlpHttpSpanExporterBuilder exporter = OtlpHttpSpanExporter.builder().setEndpoint(url);
    headers(environment.getOrDefault("OTEL_EXPORTER_OTLP_HEADERS", ""), exporter);
    String name = environment.getOrDefault("OTEL_SERVICE_NAME", "radixflow-gateway");
    LOG.info("Spans of requests go to {}", url);
    return new Tracing(
        SdkTracerProvider.builder()
            .setResource(
                Resource.getDefault()
                    .merge(
                        Resource.create(
                            Attributes.of(AttributeKey.stringKey("service.name"), name))))
            .setSampler(Sampler.parentBased(Sampler.alwaysOn()))
            .addSpanProcessor(BatchSpanProcessor.builder(exporter.build()).build())
            .build());
  }

  private static String endpoint(String configured, Map<String, String> environment) {
    String whole = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    if (configured == null && whole != null && !whole.isBlank()) {
      return whole;
    }
    String base = configured == null ? environment.get("OTEL_EXPORTER_OTLP_ENDPOINT") : configured;
    return base == null || base.isBlank() ? null : base.replaceFirst("/+$", "") + "/v1/traces";
  }

  /** Adds headers in the form {@code name=value,name=value}, with escapes as in URLs. */
  private static void headers(String given, OtlpHttpSpanExporterBuilder exporter) {
    for (String header : given.split(",")) {
      int equals = header.indexOf('=');
      if (equals > 0) {
        exporter.addHeader(
            header.substring(0, equals).strip(),
            URLDecoder.decode(header.substring(equals + 1).strip(), StandardCharsets.UTF_8));
      }
    }
  }

  /**
   * Starts the span of a request. Probes and files have no span, and without a collector no request
   * has one.
   */
  RequestSpan begin(HttpServerRequest request, Routes.Route route) {
    if (tracer == null || route.open()) {
      return NONE;
    }
    String operation = request.method().name().equals("POST") ? OPERATIONS.get(route.path()) : null;
    SpanBuilder span =
        tracer
            .spanBuilder(request.method() + " " + route.path())
            .setSpanKind(SpanKind.SERVER)
            .setParent(
                W3CTraceContextPropagator.getInstance().extract(Context.root(), request, HEADERS))
            .setAttribute("http.request.method", request.method().name())
            .setAttribute("http.route", route.path());
    if (operation != null) {
      span.setAttribute("gen_ai.operation.name", operation);
      span.setAttribute("gen_ai.provider.name", "radixflow");
    }
    Span started = span.startSpan();
    return started.getSpanContext().isValid() ? new RequestSpan(started) : NONE;
  }

  /** Exports all ended spans, for a few seconds at most. */
  @Override
  public void close() {
    if (provider != null) {
      provider.shutdown().join(FLUSH_SECONDS, TimeUnit.SECONDS);
    }
  }
}
