package io.radixflow.gateway.http;

/** Handles the requests of a route. */
@FunctionalInterface
public interface Endpoint {

  /**
   * Handles a request whose body was read. Runs on the request's event loop and must not block. The
   * endpoint may answer later, on the same event loop.
   *
   * @throws ApiException the error for the client; an {@link
   *     io.radixflow.protocol.json.InvalidInputException} becomes status 400
   */
  void handle(Exchange exchange);
}
