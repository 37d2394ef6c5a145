package io.radixflow.gateway;

import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.Exchange;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.turn.Turns;
import io.vertx.core.http.HttpMethod;

/** Tells load balancers whether the process is alive and whether it can serve requests. */
record Probes(Turns turns) implements EndpointGroup {

  @Override
  public void addTo(Routes routes) {
    routes.addOpen(HttpMethod.GET, "/health", Probes::health);
    routes.addOpen(HttpMethod.GET, "/ready", this::ready);
  }

  private static void health(Exchange exchange) {
    exchange.json(Json.object().put("status", "ok"));
  }

  private void ready(Exchange exchange) {
    String problem = turns.problem();
    if (problem == null) {
      exchange.json(Json.object().put("status", "ready"));
    } else {
      exchange.json(503, Json.object().put("status", "not ready").put("reason", problem));
    }
  }
}
