package io.radixflow.gateway.http;

/** The endpoints of one API. {@code Gateway} has the list of all groups. */
@FunctionalInterface
public interface EndpointGroup {

  /** Adds all routes of the group. Called once, before the gateway listens. */
  void addTo(Routes routes);
}
