package io.radixflow.lab.drill.http;

import java.io.IOException;

/** A client with one request at a time. Only one thread uses it. */
public interface DrillClient extends AutoCloseable {

  /**
   * Sends a request, and resumes what breaks until the reply is whole.
   *
   * @throws IOException if the client itself fails
   */
  Heard send(HttpTurn turn) throws IOException, InterruptedException;

  @Override
  default void close() {}
}
