package io.radixflow.gateway.live;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.Routes;
import io.vertx.core.http.HttpMethod;
import java.io.IOException;

/**
 * The contents of the live page, as JSON. It shows all tenants, so it requires an operator's API
 * key. It contains no texts, no token ids, and no names of sessions or tenants.
 */
public final class LiveEndpoints implements EndpointGroup, AutoCloseable {

  private static final int PERIOD_MILLIS = 1000;
  private static final int IDLE_MILLIS = 20_000;

  /**
   * The timeout of an answer. A busy machine needs seconds for a first answer, and no request waits
   * for a sample.
   */
  private static final int TIMEOUT_MILLIS = 15_000;

  private final LiveSampler figures;
  private final LiveSampler tree;

  /** Creates the endpoints. They follow nothing until a reader asks. */
  public LiveEndpoints(Settings settings) {
    String flink = settings.get(GatewayConfig.FLINK_URL);
    this.figures =
        sampler("gateway-live-figures", () -> figures(flink), "Flink's answer cannot be used");
    this.tree =
        sampler(
            "gateway-live-tree",
            () -> CacheTreeSource.open(settings),
            "The topic "
                + settings.get(KafkaConfig.KV_EVENTS_TOPIC)
                + " cannot be read. Is the job's option kv-events.enabled true?");
  }

  private static LiveSampler.Source figures(String flink) {
    return flink == null
        ? stopped ->
            status("off", "The gateway does not know where Flink is: set gateway.flink-url.")
        : new FlinkFigures(new FlinkRest(flink, TIMEOUT_MILLIS));
  }

  private static LiveSampler sampler(String name, LiveSampler.Opening opening, String otherwise) {
    return new LiveSampler(
        name,
        PERIOD_MILLIS,
        IDLE_MILLIS,
        opening,
        status("starting", "The first figures are on their way."),
        failure ->
            status("failed", failure instanceof IOException ? failure.getMessage() : otherwise));
  }

  private static byte[] status(String status, String message) {
    return Json.write(Json.object().put("status", status).put("message", message));
  }

  @Override
  public void addTo(Routes routes) {
    routes.add(HttpMethod.GET, "/live/metrics", exchange -> serve(exchange, figures));
    routes.add(HttpMethod.GET, "/live/tree", exchange -> serve(exchange, tree));
  }

  private static void serve(Exchange exchange, LiveSampler sampler) {
    if (!exchange.caller().operator()) {
      throw ApiException.forbidden(
          "the API key is not an operator's; './radixflow gateway-key --operator' makes one");
    }
    exchange.setHeader("Cache-Control", "no-store");
    exchange.json(200, sampler.latest());
  }

  /** Stops following Flink and the topic. */
  @Override
  public void close() {
    figures.close();
    tree.close();
  }
}
