package io.radixflow.gateway.http;

/** Endpoints that belong together: one API. {@code Gateway} has the list of them. */
@FunctionalInterface
public interface EndpointGroup {

  /** Adds all its routes; called once, before the gateway listens. */
  void addTo(Routes routes);
}
