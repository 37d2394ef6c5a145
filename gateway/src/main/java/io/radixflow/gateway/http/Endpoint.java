package io.radixflow.gateway.http;

/** Serves the requests of a route. */
@FunctionalInterface
public interface Endpoint {

  /**
   * Serves a request whose body was read. Runs on the request's event loop and must not block; may
   * answer later, on the same event loop.
   *
   * @throws ApiException if the client is to see an error; {@link
   *     io.radixflow.jobs.json.InvalidInputException} becomes a 400
   */
  void handle(Exchange exchange);
}
