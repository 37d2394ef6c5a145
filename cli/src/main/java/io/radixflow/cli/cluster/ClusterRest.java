package io.radixflow.cli.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.flink.Ports;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A client of Flink's REST interface. It calls any live JobManager of the cluster. Every call fails
 * with an {@link IOException} while no JobManager is alive or no JobManager is the leader.
 */
public final class ClusterRest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final HttpClient client = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private final Supplier<List<Integer>> ports;

  ClusterRest(int port) {
    this(() -> List.of(port));
  }

  /**
   * @param ports ports of JobManagers on loopback
   */
  ClusterRest(Supplier<List<Integer>> ports) {
    this.ports = ports;
  }

  /** Returns the address of a JobManager that answers, {@code host:port}. */
  public String address() throws IOException {
    List<Integer> known = ports.get();
    if (known.isEmpty()) {
      throw new IOException("no JobManager runs");
    }
    return Ports.LOOPBACK + ":" + known.get(0);
  }

  /** Returns the slots of all registered TaskManagers. */
  public int slots() throws IOException, InterruptedException {
    int slots = 0;
    for (JsonNode taskManager : get("taskmanagers").path("taskmanagers")) {
      slots += taskManager.path("slotsNumber").asInt();
    }
    return slots;
  }

  public List<String> taskManagers() throws IOException, InterruptedException {
    List<String> ids = new ArrayList<>();
    get("taskmanagers").path("taskmanagers").forEach(one -> ids.add(one.path("id").asText()));
    return ids;
  }

  /** Returns the state of a job: {@code RUNNING}, {@code RESTARTING}, {@code FAILED} ... */
  public String jobState(String job) throws IOException, InterruptedException {
    return get("jobs/" + job).path("state").asText();
  }

  public List<String> jobs() throws IOException, InterruptedException {
    return get("jobs").path("jobs").findValuesAsText("id");
  }

  /** Returns true if every subtask of a job runs. */
  public boolean allRun(String job) throws IOException, InterruptedException {
    JsonNode details = get("jobs/" + job);
    boolean run = details.path("state").asText().equals("RUNNING");
    for (JsonNode vertex : details.path("vertices")) {
      int running = vertex.path("tasks").path("RUNNING").asInt();
      run &= running > 0 && running == vertex.path("parallelism").asInt();
    }
    return run;
  }

  /** Returns the TaskManagers of the serving operator's subtasks, by the subtask's index. */
  public Map<Integer, String> servingTaskManagers(String job)
      throws IOException, InterruptedException {
    Map<Integer, String> places = new TreeMap<>();
    for (JsonNode subtask :
        get("jobs/" + job + "/vertices/" + servingVertex(job)).path("subtasks")) {
      places.put(subtask.path("subtask").asInt(), subtask.path("taskmanager-id").asText());
    }
    return places;
  }

  /** Returns the location of the job's newest complete checkpoint; null before the first. */
  public String latestCheckpoint(String job) throws IOException, InterruptedException {
    JsonNode path = get("jobs/" + job + "/checkpoints").at("/latest/completed/external_path");
    return path.isTextual() ? path.asText() : null;
  }

  /**
   * Returns a gauge or counter of the serving operator for all subtasks that have reported it, as
   * Flink last fetched it.
   *
   * @param name name of the metric in docs/metrics.md
   */
  public List<Long> servingMetrics(String job, String name)
      throws IOException, InterruptedException {
    String metrics = "jobs/" + job + "/vertices/" + servingVertex(job) + "/metrics";
    List<Long> values = new ArrayList<>();
    for (JsonNode metric : get(metrics)) {
      String id = metric.path("id").asText();
      if (id.endsWith(".serving." + name)) {
        String escaped = URLEncoder.encode(id, StandardCharsets.UTF_8);
        // a missing job has ended in the meantime
        get(metrics + "?get=" + escaped).forEach(one -> values.add(one.path("value").asLong()));
      }
    }
    return values;
  }

  /** Cancels a job, as the web interface does. */
  public void cancel(String job) throws IOException, InterruptedException {
    send("jobs/" + job + "?mode=cancel", "PATCH", BodyPublishers.noBody());
  }

  /** Allows the adaptive scheduler up to {@code most} subtasks for every vertex of the job. */
  public void allowParallelism(String job, int most) throws IOException, InterruptedException {
    var requirements = json.createObjectNode();
    for (JsonNode vertex : get("jobs/" + job).path("vertices")) {
      int upper = Math.min(most, vertex.path("maxParallelism").asInt());
      requirements
          .putObject(vertex.path("id").asText())
          .putObject("parallelism")
          .put("lowerBound", 1)
          .put("upperBound", isControl(vertex) ? 1 : upper);
    }
    send(
        "jobs/" + job + "/resource-requirements",
        "PUT",
        BodyPublishers.ofByteArray(json.writeValueAsBytes(requirements)));
  }

  /** Returns whether a vertex reads the control topic, which has only one reader. */
  private static boolean isControl(JsonNode vertex) {
    return vertex.path("name").asText().startsWith("Source: control");
  }

  private String servingVertex(String job) throws IOException, InterruptedException {
    for (JsonNode vertex : get("jobs/" + job).path("vertices")) {
      if (vertex.path("name").asText().startsWith("serving")) {
        return vertex.path("id").asText();
      }
    }
    throw new IOException("the job " + job + " has no serving operator");
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    return json.readTree(send(path, "GET", BodyPublishers.noBody()));
  }

  private String send(String path, String method, BodyPublisher body)
      throws IOException, InterruptedException {
    IOException failure = new IOException("no JobManager runs");
    for (int port : ports.get()) {
      try {
        return send(port, path, method, body);
      } catch (IOException e) {
        failure = e;
      }
    }
    throw failure;
  }

  private String send(int port, String path, String method, BodyPublisher body)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://" + Ports.LOOPBACK + ":" + port + "/v1/" + path);
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .method(method, body)
            .header("Content-Type", "application/json")
            .timeout(LIMIT)
            .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() / 100 != 2) {
      throw new IOException(path + ": " + response.statusCode() + " " + response.body());
    }
    return response.body();
  }
}
