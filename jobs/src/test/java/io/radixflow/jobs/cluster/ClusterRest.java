package io.radixflow.jobs.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

/** What a JobManager says about its cluster, over Flink's REST interface. */
final class ClusterRest {

  private final HttpClient client = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private final String address;
  private final URI root;

  ClusterRest(int port) {
    this.address = "127.0.0.1:" + port;
    this.root = URI.create("http://" + address + "/v1/");
  }

  /** Where it answers, {@code host:port}. */
  String address() {
    return address;
  }

  /** Slots of all TaskManagers that have registered. */
  int slots() throws IOException, InterruptedException {
    int slots = 0;
    for (JsonNode taskManager : get("taskmanagers").path("taskmanagers")) {
      slots += taskManager.path("slotsNumber").asInt();
    }
    return slots;
  }

  /** State of a job: {@code RUNNING}, {@code RESTARTING}, {@code FAILED} ... */
  String jobState(String job) throws IOException, InterruptedException {
    return get("jobs/" + job).path("state").asText();
  }

  /** The ids of all jobs. */
  List<String> jobs() throws IOException, InterruptedException {
    return get("jobs").path("jobs").findValuesAsText("id");
  }

  /** Cancels a job, as the web interface does. */
  void cancel(String job) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(root.resolve("jobs/" + job + "?mode=cancel"))
            .method("PATCH", HttpRequest.BodyPublishers.noBody())
            .timeout(Duration.ofSeconds(60))
            .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 202) {
      throw new IOException("cancel: " + response.statusCode() + " " + response.body());
    }
  }

  private JsonNode get(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(root.resolve(path)).timeout(Duration.ofSeconds(60)).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(path + ": " + response.statusCode() + " " + response.body());
    }
    return json.readTree(response.body());
  }
}
