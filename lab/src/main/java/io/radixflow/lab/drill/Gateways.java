package io.radixflow.lab.drill;

import io.radixflow.cli.Radixflow;
import io.radixflow.cli.cluster.JavaProcess;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.cluster.Waiting;
import io.radixflow.cli.flink.Ports;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.lab.drill.http.HttpTurn;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Two HTTP gateways for the cluster; each starts again on its own port after it was killed. */
final class Gateways {
  private static final int COUNT = 2;
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final ProcessCluster cluster;
  private final Settings settings;
  private final Map<Integer, JavaProcess> processes = new LinkedHashMap<>();
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(CONNECT).build();

  /** Starts the gateways and waits until they are ready. */
  Gateways(ProcessCluster cluster, Settings settings) throws IOException, InterruptedException {
    this.cluster = cluster;
    this.settings = settings;
    for (int i = 0; i < COUNT; i++) {
      start(Ports.free());
    }
    awaitReady();
  }

  List<URI> uris() {
    return processes.keySet().stream().map(Gateways::uri).toList();
  }

  private static URI uri(int port) {
    return URI.create("http://" + Ports.LOOPBACK + ":" + port + "/");
  }

  private void start(int port) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.addAll(List.of("gateway", "--port", Integer.toString(port)));
    arguments.addAll(List.of("--bootstrap", settings.get(KafkaConfig.BOOTSTRAP_SERVERS), "--set"));
    arguments.add(GatewayConfig.MODEL_NAME.key() + "=" + HttpTurn.MODEL);
    processes.put(port, cluster.startGateway(Radixflow.class.getName(), arguments));
  }

  /** Kills one gateway, waits, and starts it again. */
  void killOne(SplittableRandom random, Duration down) throws IOException, InterruptedException {
    List<Integer> ports = List.copyOf(processes.keySet());
    kill(List.of(ports.get(random.nextInt(ports.size()))), down);
  }

  void killAll(Duration down) throws IOException, InterruptedException {
    kill(List.copyOf(processes.keySet()), down);
  }

  private void kill(List<Integer> ports, Duration down) throws IOException, InterruptedException {
    ports.forEach(port -> processes.get(port).kill());
    Thread.sleep(down.toMillis());
    for (int port : ports) {
      start(port);
    }
    awaitReady();
  }

  private void awaitReady() throws IOException, InterruptedException {
    for (int port : processes.keySet()) {
      HttpRequest ready =
          HttpRequest.newBuilder(uri(port).resolve("/ready")).timeout(CONNECT).build();
      Waiting.until(
          "the gateway at port " + port,
          LIMIT,
          () -> {
            if (!processes.get(port).isAlive()) {
              throw new IllegalStateException(processes.get(port) + " ended; its output says why");
            }
            return client.send(ready, BodyHandlers.discarding()).statusCode() == 200;
          });
    }
  }
}
