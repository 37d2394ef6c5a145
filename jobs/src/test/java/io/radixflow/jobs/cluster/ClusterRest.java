package io.radixflow.jobs.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;

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

  private JsonNode get(String path) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(root.resolve(path)).timeout(Duration.ofSeconds(10)).build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200) {
      throw new IOException(path + ": " + response.statusCode() + " " + response.body());
    }
    return json.readTree(response.body());
  }
}
