package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.deploy.DeployFiles;
import io.radixflow.cli.flink.Ports;
import io.radixflow.cli.flink.WebPort;
import io.radixflow.cli.local.LocalBroker;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.jobs.kafka.KafkaSetup;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The services of docker-compose.yml as processes: the same scripts of Flink's distribution with
 * the same arguments and properties, and the gateway by the entry point of its image. Names of
 * hosts, ports, and directories in containers are replaced.
 */
@Tag("slow")
class ComposeStackIT {

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Pattern ENTRY_POINT = Pattern.compile("(?m)^ENTRYPOINT (\\[.*])$");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{\\w+:-([^}]*)}");
  private static final Pattern HTTP = Pattern.compile("HTTP +(http://\\S+)");

  private final ObjectMapper json = new ObjectMapper();
  private final HttpClient client = HttpClient.newHttpClient();
  private final Map<String, String> replaced = new LinkedHashMap<>();
  private final List<Process> processes = new ArrayList<>();

  @TempDir Path dir;
  private JsonNode compose;
  private StockFlink flink;

  @AfterEach
  void killAll() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().onExit().join();
    }
  }

  @Test
  void aLostJobManagerLosesNothing() throws Exception {
    compose = DeployFiles.yaml("docker-compose.yml");
    int zooKeeperPort = Ports.free();
    try (LocalBroker broker = LocalBroker.start(dir.resolve("broker"))) {
      replaced.put("model=/opt/radixflow/model.gguf", "model=sim");
      replaced.put("/opt/radixflow/state", dir.resolve("state").toString());
      replaced.put("/opt/radixflow/lib", Path.of("target/dist/lib").toAbsolutePath().toString());
      replaced.put("kafka:29092", broker.bootstrapServers());
      replaced.put("zookeeper:2181", "127.0.0.1:" + zooKeeperPort);
      replaced.put("address: jobmanager", "address: localhost");
      replaced.put("prom.port: 9249", "prom.port: 0");
      replaced.put("gateway.host=0.0.0.0", "gateway.host=127.0.0.1");
      layOutFlink(zooKeeperPort);

      start("zookeeper");
      KafkaSetup.check(
          new SettingsLoader()
              .set(
                  List.of(
                      "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                      "kafka.create-topics=true",
                      "kv-events.enabled=true",
                      "session.index=true"))
              .load());
      Process jobManager = start("jobmanager");
      start("taskmanager");
      URI gateway = startGateway();
      URI web = URI.create("http://127.0.0.1:" + flink.restPort());
      awaitOk(web.resolve(healthPath("jobmanager")));
      awaitOk(gateway.resolve(healthPath("gateway")));
      ArrayNode messages = json.createArrayNode();
      String first = say(gateway, messages, "Which lights does a harbour have?");
      String job = get(web.resolve("/jobs")).at("/jobs/0/id").asText();
      URI checkpoints = web.resolve("/jobs/" + job + "/checkpoints");
      await().atMost(PATIENCE).until(() -> get(checkpoints).at("/counts/completed").asInt() > 0);
      WebPort port = new WebPort(web);
      assertThat(port.upload("/jars/upload").statusCode()).isBetween(400, 499);
      assertThat(port.upload("/jobs").statusCode()).isBetween(400, 499);

      jobManager.destroyForcibly().onExit().join();
      processes.remove(jobManager);
      start("jobmanager");
      String second = say(gateway, messages, "And the other one?");
      awaitOk(web.resolve(healthPath("jobmanager")));
      await().atMost(PATIENCE).until(() -> get(checkpoints).at("/latest/restored/id").asInt() > 0);
      String third = say(gateway, messages, "And the third?");

      assertThat(List.of(first, second, third)).allMatch(reply -> !reply.isEmpty());
      assertThat(get(web.resolve("/jobs")).at("/jobs/0/id").asText()).isEqualTo(job);
    }
  }

  private void layOutFlink(int zooKeeperPort) throws Exception {
    String properties = compose.at("/services/jobmanager/environment/FLINK_PROPERTIES").asText();
    flink = StockFlink.layOut(Path.of("target/compose-stack"), here(properties));
    Path zooKeeper = Path.of("../jobs/src/main/docker/zoo.cfg");
    Files.writeString(
        flink.home().resolve("conf").resolve(zooKeeper.getFileName()),
        here(Files.readString(zooKeeper)).replace("clientPort=2181", "clientPort=" + zooKeeperPort)
            + "clientPortAddress=127.0.0.1\n");
    Files.copy(
        Path.of("../jobs/target/radixflow-job.jar"),
        Files.createDirectory(flink.home().resolve("usrlib")).resolve("radixflow-job.jar"));
    Files.createDirectories(dir.resolve("state"));
  }

  /** Runs a service of Flink's image, as the entry point of that image does. */
  private Process start(String service) throws IOException {
    List<String> command = command(service);
    String name = command.get(0);
    List<String> arguments = new ArrayList<>(command.subList(1, command.size()));
    if (name.startsWith("/opt/flink/bin/")) {
      name = name.substring("/opt/flink/bin/".length());
    } else {
      name += ".sh";
      arguments.add(0, "start-foreground");
    }
    Path output = dir.resolve(service + processes.size() + ".out");
    Process process = flink.start(name, arguments, output);
    processes.add(process);
    return process;
  }

  /** The gateway by its image's entry point, at any free port. */
  private URI startGateway() throws Exception {
    Matcher entryPoint = ENTRY_POINT.matcher(Files.readString(Path.of("../Dockerfile")));
    assertThat(entryPoint.find()).isTrue();
    List<String> command = new ArrayList<>();
    DeployFiles.texts(json.readTree(entryPoint.group(1))).forEach(word -> command.add(here(word)));
    command.set(0, Path.of(System.getProperty("java.home"), "bin", command.get(0)).toString());
    command.addAll(command("gateway"));
    command.addAll(List.of("--port", "0"));
    Path output = dir.resolve("gateway.out");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    processes.add(process);
    await()
        .atMost(PATIENCE)
        .failFast(() -> assertThat(process.isAlive()).as(Files.readString(output)).isTrue())
        .until(() -> HTTP.matcher(Files.readString(output)).find());
    Matcher address = HTTP.matcher(Files.readString(output));
    assertThat(address.find()).isTrue();
    return URI.create(address.group(1));
  }

  private String say(URI gateway, ArrayNode messages, String text) throws Exception {
    messages.addObject().put("role", "user").put("content", text);
    ObjectNode request = json.createObjectNode().put("max_tokens", 16).put("min_tokens", 1);
    request.set("messages", messages);
    HttpResponse<String> response =
        client.send(
            HttpRequest.newBuilder(gateway.resolve("/v1/chat/completions"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(request.toString()))
                .timeout(PATIENCE)
                .build(),
            BodyHandlers.ofString());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    JsonNode message = json.readTree(response.body()).at("/choices/0/message");
    messages.add(message);
    return message.path("content").asText();
  }

  private void awaitOk(URI uri) {
    await()
        .atMost(PATIENCE)
        .failFast("a process has ended", () -> !processes.stream().allMatch(Process::isAlive))
        .ignoreExceptions()
        .until(
            () ->
                client
                        .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.discarding())
                        .statusCode()
                    == 200);
  }

  private JsonNode get(URI uri) throws IOException, InterruptedException {
    return json.readTree(
        client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()).body());
  }

  /** The path that a service's health check asks for. */
  private String healthPath(String service) {
    List<String> test = DeployFiles.texts(compose.at("/services/" + service + "/healthcheck/test"));
    return URI.create(test.get(test.size() - 1)).getPath();
  }

  private List<String> command(String service) {
    return DeployFiles.texts(compose.at("/services/" + service + "/command")).stream()
        .map(word -> here(VARIABLE.matcher(word).replaceAll("$1")))
        .toList();
  }

  private String here(String text) {
    String changed = text;
    for (Map.Entry<String, String> each : replaced.entrySet()) {
      changed = changed.replace(each.getKey(), each.getValue());
    }
    return changed;
  }
}
