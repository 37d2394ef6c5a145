package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.Waiting;
import io.radixflow.client.ConversationClient;
import io.radixflow.lab.drill.http.Heard;
import io.radixflow.lab.drill.http.HttpScript;
import io.radixflow.lab.drill.http.HttpTarget;
import io.radixflow.lab.drill.http.HttpTurn;
import io.radixflow.lab.drill.http.JavaClient;
import io.radixflow.lab.drill.http.PythonClient;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.protocol.record.ConversationEvent;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * All clients of a drill. Most use HTTP, a third of these with OpenAI's Python client. The others
 * send events to Kafka, because HTTP has no forks, no tenants without keys, and no cancels that
 * come before their turn.
 */
record Clients(Driver<ConversationEvent, KafkaReply> kafka, Driver<HttpTurn, Heard> http)
    implements AutoCloseable {
  /** One in this many clients uses Kafka; {@link #PYTHON_SHARE} applies to the others. */
  private static final int KAFKA_SHARE = 4;

  private static final int PYTHON_SHARE = 3;

  /**
   * Starts sending.
   *
   * @param client the Kafka client; not closed here
   * @param gateways the addresses of all HTTP gateways
   * @param scripts gives the events of a session by its number
   * @param logs directory of logs
   * @param say receives a line for the user
   */
  static Clients start(
      ConversationClient client,
      List<URI> gateways,
      DrillOptions options,
      IntFunction<List<ConversationEvent>> scripts,
      Path logs,
      Consumer<String> say)
      throws IOException, InterruptedException {
    int lanes = Math.max(1, options.sessions() / KAFKA_SHARE);
    List<HttpTarget> others = new ArrayList<>();
    boolean python = PythonClient.isAvailable();
    for (int i = 0; i < options.sessions() - lanes; i++) {
      others.add(
          python && i % PYTHON_SHARE == 0
              ? PythonClient.start(gateways, logs)
              : new JavaClient(gateways));
    }
    say.accept(
        "%d HTTP clients, %s; %d Kafka clients"
            .formatted(
                others.size(),
                python
                    ? "every third is OpenAI's Python client"
                    : "all in Java, because python3 does not find the package openai",
                lanes));
    AtomicInteger next = new AtomicInteger();
    AtomicInteger nextHttp = new AtomicInteger();
    return new Clients(
        Driver.start(
            Collections.nCopies(lanes, new KafkaTarget(client, true)),
            () -> new EventScript(scripts.apply(next.getAndIncrement()))),
        Driver.start(
            others,
            () ->
                HttpScript.of(
                        options.seed(),
                        nextHttp.getAndIncrement(),
                        options.turns(),
                        options.maxTokens())
                    .conversation()));
  }

  /** Returns the events that Kafka clients sent. */
  List<ConversationEvent> sent() {
    return kafka.sent();
  }

  void awaitReplies(int more, Duration limit) throws IOException, InterruptedException {
    int wanted = replies() + more;
    Waiting.until(more + " more replies", limit, () -> replies() >= wanted);
  }

  private int replies() {
    return kafka.replyCount() + http.replyCount();
  }

  /** Stops sending, and waits until all sent turns are answered. */
  void awaitEnd(Duration limit) throws IOException, InterruptedException {
    kafka.stop();
    http.stop();
    Waiting.until("all replies", limit, () -> kafka.unanswered() + http.unanswered() == 0);
  }

  @Override
  public void close() {
    http.close();
    kafka.close();
  }
}
