package io.radixflow.gateway.console;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/** A connection to a browser over the DevTools protocol. */
final class DevTools implements WebSocket.Listener {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long PATIENCE_SECONDS = 60;

  private final StringBuilder received = new StringBuilder();
  private final AtomicInteger last = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> calls = new ConcurrentHashMap<>();
  private final Map<String, BiConsumer<String, JsonNode>> listeners = new ConcurrentHashMap<>();
  private WebSocket socket;

  static DevTools connect(String address) {
    DevTools tools = new DevTools();
    tools.socket =
        HttpClient.newHttpClient()
            .newWebSocketBuilder()
            .buildAsync(URI.create(address), tools)
            .join();
    return tools;
  }

  static ObjectNode parameters() {
    return JsonNodeFactory.instance.objectNode();
  }

  /** Has the listener take all events of a page: their methods and parameters. */
  void listen(String session, BiConsumer<String, JsonNode> listener) {
    listeners.put(session, listener);
  }

  /**
   * Calls a method and waits for its result.
   *
   * @param session of a page, or null for the browser
   */
  JsonNode call(String session, String method, ObjectNode parameters) {
    int id = last.incrementAndGet();
    ObjectNode message = parameters().put("id", id).put("method", method);
    message.set("params", parameters);
    if (session != null) {
      message.put("sessionId", session);
    }
    CompletableFuture<JsonNode> result = new CompletableFuture<>();
    calls.put(id, result);
    synchronized (this) {
      socket.sendText(message.toString(), true).join();
    }
    JsonNode answer = result.orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
    if (answer.has("error")) {
      throw new IllegalStateException(method + ": " + answer.get("error"));
    }
    return answer.get("result");
  }

  @Override
  public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean complete) {
    received.append(data);
    if (complete) {
      String text = received.toString();
      received.setLength(0);
      take(text);
    }
    from.request(1);
    return null;
  }

  private void take(String text) {
    JsonNode message;
    try {
      message = JSON.readTree(text);
    } catch (IOException e) {
      throw new IllegalStateException("Chromium sent no JSON: " + text, e);
    }
    if (message.has("id")) {
      calls.remove(message.get("id").intValue()).complete(message);
    } else if (message.has("sessionId")) {
      BiConsumer<String, JsonNode> listener = listeners.get(message.get("sessionId").textValue());
      if (listener != null) {
        listener.accept(message.get("method").textValue(), message.get("params"));
      }
    }
  }

  void close() {
    socket.abort();
  }
}
