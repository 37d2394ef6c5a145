package io.radixflow.gateway;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.gateway.chat.ChatEndpoints;
import io.radixflow.gateway.chat.TokenizeEndpoints;
import io.radixflow.gateway.console.ConsolePages;
import io.radixflow.gateway.http.EndpointGroup;
import io.radixflow.gateway.http.HttpFront;
import io.radixflow.gateway.http.HttpMetrics;
import io.radixflow.gateway.http.Routes;
import io.radixflow.gateway.live.LiveEndpoints;
import io.radixflow.gateway.messages.MessagesEndpoints;
import io.radixflow.gateway.responses.ConversationList;
import io.radixflow.gateway.responses.ConversationsEndpoints;
import io.radixflow.gateway.responses.ResponsesEndpoints;
import io.radixflow.gateway.text.ModelText;
import io.radixflow.gateway.topics.KafkaTopics;
import io.radixflow.gateway.topics.Topics;
import io.radixflow.gateway.turn.Turns;
import java.io.IOException;
import java.net.URI;
import java.util.List;

/**
 * An HTTP gateway in front of Kafka: it turns requests into events, and deltas and replies into
 * responses. It has no state that outlives a request, so any number of gateways may run.
 */
public final class Gateway implements AutoCloseable {

  private final Turns turns;
  private final LiveEndpoints live;
  private final Routes routes;
  private final HttpFront front;

  private Gateway(Turns turns, LiveEndpoints live, Routes routes, HttpFront front) {
    this.turns = turns;
    this.live = live;
    this.routes = routes;
    this.front = front;
  }

  /**
   * Starts a gateway. When this method returns, clients can connect and get answers.
   *
   * @throws KafkaSetupException if no broker answers or a topic is missing
   * @throws IOException if the gateway cannot listen; the message says what to do
   */
  public static Gateway start(Settings settings) throws IOException {
    return start(settings, new KafkaTopics(settings));
  }

  /**
   * Starts a gateway on other topics than Kafka's. The gateway closes them, even if the start
   * fails.
   */
  static Gateway start(Settings settings, Topics topics) throws IOException {
    try {
      PrometheusRegistry registry = new PrometheusRegistry();
      Turns turns = new Turns(topics, registry);
      ConversationList conversations = conversations(settings, topics);
      Routes routes = new Routes();
      new MetricsPage(registry).addTo(routes);
      new OpenApiPage().addTo(routes);
      ModelText text = new ModelText(settings);
      endpoints(settings, turns, conversations, text).forEach(group -> group.addTo(routes));
      LiveEndpoints live = new LiveEndpoints(settings);
      live.addTo(routes);
      HttpFront front = HttpFront.start(settings, routes, new HttpMetrics(registry));
      return new Gateway(turns, live, routes, front);
    } catch (IOException | RuntimeException e) {
      topics.close();
      throw e;
    }
  }

  /** Begins to read the conversation index; returns null if it is off. */
  private static ConversationList conversations(Settings settings, Topics topics) {
    if (!settings.get(SharedConfig.INDEX)) {
      return null;
    }
    ConversationList conversations = new ConversationList();
    topics.followIndex(conversations);
    return conversations;
  }

  /** Returns the endpoints of all APIs. */
  private static List<EndpointGroup> endpoints(
      Settings settings, Turns turns, ConversationList conversations, ModelText text) {
    ServedModels models = new ServedModels(settings, text);
    return List.of(
        new Probes(turns),
        new ConsolePages(),
        models,
        new ChatEndpoints(settings, turns, models),
        new TokenizeEndpoints(models, text),
        new ResponsesEndpoints(settings, turns, models, text),
        new ConversationsEndpoints(turns, conversations),
        new MessagesEndpoints(settings, turns, models, text));
  }

  /** Returns the address for clients. */
  public URI uri() {
    return front.uri();
  }

  /** Returns all routes of the gateway. */
  Routes routes() {
    return routes;
  }

  /** Returns the number of followed turns. */
  int followed() {
    return turns.followed();
  }

  /** Closes all connections and returns when all threads have ended. Does not cancel turns. */
  @Override
  public void close() {
    front.close();
    live.close();
    turns.close();
  }
}
