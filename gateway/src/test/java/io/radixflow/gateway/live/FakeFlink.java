package io.radixflow.gateway.live;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Answers as Flink's REST interface does, for a job with two subtasks on one TaskManager. */
public final class FakeFlink implements AutoCloseable {

  private static final String JOB = "0123456789abcdef0123456789abcdef";
  private static final String VERTEX = "fedcba9876543210fedcba9876543210";
  private static final String AT = "/v1/jobs/" + JOB;
  private static final String METRICS = AT + "/vertices/" + VERTEX + "/subtasks/metrics";
  private static final String PREFIX = "serving.serving.";

  private final HttpServer server;
  private final Map<String, String> answers = new ConcurrentHashMap<>();

  public FakeFlink() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          String query = exchange.getRequestURI().getQuery();
          String how = query != null && query.contains("agg=max") ? "?max" : "";
          how = query != null && query.contains("subtasks=") ? "?some" : how;
          how = query != null && query.contains("agg=sum") && how.isEmpty() ? "?sum" : how;
          String answer = answers.get(path + how);
          byte[] bytes = (answer == null ? "{}" : answer).getBytes(UTF_8);
          exchange.sendResponseHeaders(answer == null ? 404 : 200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    answer("/v1/jobs/overview", "{'jobs':[" + job("RUNNING") + "]}");
    answer(
        AT,
        "{'vertices':[{'id':'00000000000000000000000000000000','name':'Source: events'},"
            + "{'id':'"
            + VERTEX
            + "','name':'serving: sim'}]}");
    answer(
        AT + "/vertices/" + VERTEX,
        "{'subtasks':[{'subtask':0,'taskmanager-id':'a'},{'subtask':1,'taskmanager-id':'a'}]}");
    answer(AT + "/metrics", "[{'id':'uptime','value':'5000'}]");
    answer(METRICS, "[{'id':'other'},{'id':'" + PREFIX + "turnsAccepted'}]");
    answer(METRICS + "?sum", metric("turnsAccepted", "sum", "7.0"));
    answer(METRICS + "?some", metric("pages", "sum", "605.0"));
    answer(METRICS + "?max", metric("timeToFirstTokenMillis_p99", "max", "12.5"));
    answer(
        AT + "/checkpoints",
        "{'counts':{'completed':3,'failed':1,'in_progress':0},'latest':{'completed':"
            + "{'latest_ack_timestamp':99,'end_to_end_duration':60,'checkpointed_size':10,"
            + "'state_size':20},'failed':{'failure_timestamp':50,'failure_message':'secret'}}}");
  }

  static String job(String state) {
    return "{'jid':'" + JOB + "','state':'" + state + "'}";
  }

  private static String metric(String name, String how, String value) {
    return "[{'id':'" + PREFIX + name + "','" + how + "':" + value + "}]";
  }

  /** Answers a path with JSON, whose quotes are single here. */
  public void answer(String path, String json) {
    answers.put(path, json.replace('\'', '"'));
  }

  /** Answers all paths of the subtasks' metrics alike. */
  void metrics(String json) {
    answer(METRICS, json);
    answer(METRICS + "?sum", json);
    answer(METRICS + "?some", json);
    answer(METRICS + "?max", json);
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
