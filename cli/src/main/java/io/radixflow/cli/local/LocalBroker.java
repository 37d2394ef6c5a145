package io.radixflow.cli.local;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * A Kafka broker with its controller in this process, on loopback only. Its data stays in the
 * directory, so that a later broker can use it.
 */
public final class LocalBroker implements AutoCloseable {

  /** Allows events of 10 MB to reach the job, which answers them. */
  private static final int MAX_MESSAGE_BYTES = 32 << 20;

  /** The file by which a broker recognises its directory. */
  private static final String FORMAT = "meta.properties";

  /** The topic that a broker's directory has after its first start. */
  private static final String METADATA = "__cluster_metadata-0";

  private static final int START_ATTEMPTS = 3;
  private static final String HOST = "127.0.0.1";

  private final KafkaRaftServer server;
  private final int port;

  private LocalBroker(KafkaRaftServer server, int port) {
    this.server = server;
    this.port = port;
  }

  /** Starts a broker on a free port; takes seconds. */
  public static LocalBroker start(Path directory) throws IOException {
    return start(directory, 0);
  }

  /**
   * Starts a broker.
   *
   * @param directory the directory of its data, existing or new
   * @param port the port to listen on; 0 for any free port
   * @throws IOException if the directory cannot be used or the port is taken
   */
  public static LocalBroker start(Path directory, int port) throws IOException {
    return start(directory, port, Map.of());
  }

  /**
   * Starts a broker.
   *
   * @param more properties of the broker that override or complete the usual ones
   */
  static LocalBroker start(Path directory, int port, Map<String, String> more) throws IOException {
    Path log = directory.resolve("kafka");
    Files.createDirectories(log);
    checkFormat(log);
    for (int attempt = 1; ; attempt++) {
      int brokerPort = port == 0 ? freePort() : port;
      try {
        return start(log, brokerPort, freePort(), more);
      } catch (RuntimeException e) {
        // a free port may be taken before it is bound
        if (port != 0 || attempt == START_ATTEMPTS) {
          throw new IOException(
              "the broker does not start on port " + brokerPort + ": " + e.getMessage(), e);
        }
      }
    }
  }

  private static LocalBroker start(
      Path log, int brokerPort, int controllerPort, Map<String, String> more) {
    if (!Files.exists(log.resolve(FORMAT))) {
      format(log);
    }
    Map<String, Object> properties = properties(log, brokerPort, controllerPort);
    properties.putAll(more);
    KafkaRaftServer server = new KafkaRaftServer(new KafkaConfig(properties), Time.SYSTEM);
    try {
      server.startup();
    } catch (RuntimeException e) {
      server.shutdown();
      throw e;
    }
    return new LocalBroker(server, brokerPort);
  }

  /**
   * Refuses a directory with topics but without the format file. If the directory were formatted
   * again, the broker would treat the topics as another broker's and delete them.
   */
  private static void checkFormat(Path log) throws IOException {
    Path format = log.resolve(FORMAT);
    if (Files.exists(format)) {
      Properties properties = new Properties();
      try (InputStream in = Files.newInputStream(format)) {
        properties.load(in);
      } catch (IOException | IllegalArgumentException e) {
        throw damaged(format, "cannot be read");
      }
      if (!"1".equals(properties.getProperty("node.id"))
          || !properties.containsKey("cluster.id")
          || !properties.containsKey("version")) {
        throw damaged(format, "does not belong to a broker of this command");
      }
    } else if (Files.exists(log.resolve(METADATA))) {
      throw damaged(format, "is missing");
    }
  }

  private static IOException damaged(Path format, String how) {
    return new IOException(
        "%s %s: restore it from a copy of the directory, or use another directory"
            .formatted(format, how));
  }

  private static void format(Path log) {
    try {
      new Formatter()
          .setPrintStream(
              new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
          .setNodeId(1)
          .setClusterId(Uuid.randomUuid().toString())
          .addDirectory(log.toString())
          .setMetadataLogDirectory(log.toString())
          .setControllerListenerName("CONTROLLER")
          .setReleaseVersion(MetadataVersion.latestProduction())
          .run();
    } catch (Exception e) {
      throw new IllegalStateException("cannot format " + log + ": " + e.getMessage(), e);
    }
  }

  private static Map<String, Object> properties(Path log, int brokerPort, int controllerPort) {
    Map<String, Object> properties = new HashMap<>();
    String client = "CLIENT://" + HOST + ":" + brokerPort;
    properties.put("process.roles", "broker,controller");
    properties.put("node.id", "1");
    properties.put("controller.quorum.voters", "1@" + HOST + ":" + controllerPort);
    properties.put("controller.listener.names", "CONTROLLER");
    properties.put("inter.broker.listener.name", "CLIENT");
    properties.put("listener.security.protocol.map", "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT");
    properties.put("listeners", client + ",CONTROLLER://" + HOST + ":" + controllerPort);
    properties.put("advertised.listeners", client);
    properties.put("log.dirs", log.toString());
    properties.put("auto.create.topics.enable", "false");
    properties.put("message.max.bytes", Integer.toString(MAX_MESSAGE_BYTES));
    // for a laptop's disk: topics keep a week, and a partition at most half a gibibyte
    properties.put("log.retention.bytes", Integer.toString(512 << 20));
    properties.put("log.segment.bytes", Integer.toString(64 << 20));
    properties.put("group.initial.rebalance.delay.ms", "0");
    // its controller is in this process, so a pause of the process is not a failure
    properties.put("initial.broker.registration.timeout.ms", Integer.toString(Integer.MAX_VALUE));
    // with one broker there is nothing to replicate, and few partitions need few open files
    for (String topic : new String[] {"offsets.topic", "transaction.state.log"}) {
      properties.put(topic + ".replication.factor", "1");
      properties.put(topic + ".num.partitions", "1");
    }
    properties.put("transaction.state.log.min.isr", "1");
    properties.put("share.coordinator.state.topic.replication.factor", "1");
    properties.put("share.coordinator.state.topic.min.isr", "1");
    // an idle controller appends a record twice per second for other controllers and brokers
    properties.put("metadata.max.idle.interval.ms", "0");
    properties.put("num.network.threads", "2");
    properties.put("num.io.threads", "2");
    properties.put("background.threads", "2");
    properties.put("log.cleaner.dedupe.buffer.size", Integer.toString(2 << 20));
    return properties;
  }

  public String bootstrapServers() {
    return HOST + ":" + port;
  }

  /** Stops the broker; its data is kept. Idempotent. */
  @Override
  public void close() {
    server.shutdown();
    server.awaitShutdown();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      return socket.getLocalPort();
    }
  }
}
