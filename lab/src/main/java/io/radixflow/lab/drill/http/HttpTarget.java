package io.radixflow.lab.drill.http;

import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.Target;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A client of HTTP gateways, with its own thread and one request at a time. */
public abstract class HttpTarget implements Target<HttpTurn, Heard> {
  private static final long CLOSE_SECONDS = 5;

  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(task -> Driver.daemon(task, "http"));

  /**
   * Sends a request, and resumes broken streams until the reply is complete.
   *
   * @throws IOException if the client itself fails
   */
  abstract Heard hear(HttpTurn turn) throws IOException, InterruptedException;

  @Override
  public final CompletableFuture<Heard> send(HttpTurn turn) {
    CompletableFuture<Heard> heard = new CompletableFuture<>();
    thread.execute(
        () -> {
          try {
            heard.complete(hear(turn));
          } catch (IOException | InterruptedException e) {
            heard.completeExceptionally(e);
          }
        });
    return heard;
  }

  @Override
  public void close() {
    thread.shutdownNow();
    try {
      thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
