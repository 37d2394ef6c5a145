package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import io.radixflow.cli.deploy.DeployFiles;
import io.radixflow.cli.flink.LoopbackFlink;
import io.radixflow.cli.flink.WebAccess;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComposeFileTest {

  private static final String LOGGING = "jobs/src/main/docker/log4j-console.properties";
  private static final String ZOOKEEPER = "jobs/src/main/docker/zoo.cfg";
  private static final String JOB = "io.radixflow.jobs.RadixflowJob";

  private static final List<String> FLINK = List.of("zookeeper", "jobmanager", "taskmanager");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{(\\w+):-([^}]*)}");

  private static JsonNode compose;
  private static String dockerfile;

  @BeforeAll
  static void read() throws Exception {
    compose = DeployFiles.yaml("docker-compose.yml");
    dockerfile = Files.readString(Path.of("../Dockerfile"));
  }

  @Test
  void theFileFollowsTheComposeSpecification() throws Exception {
    assertThat(schema().validate(compose)).isEmpty();
  }

  @Test
  void theSchemaRefusesWhatTheSpecificationDoesNotKnow() throws Exception {
    ObjectNode wrong = compose.deepCopy();
    ((ObjectNode) wrong.at("/services/kafka")).put("imagine", "apache/kafka");
    assertThat(schema().validate(wrong)).isNotEmpty();
  }

  @Test
  void imagesAreOfTheVersionsThatTheBuildTests() {
    for (JsonNode service : compose.path("services")) {
      assertThat(service.path("image").asText())
          .matches(
              "radixflow-(flink|gateway)|(prom/prometheus|grafana/grafana):v?\\d+\\.\\d+\\.\\d+|"
                  + Pattern.quote("apache/kafka:" + AppInfoParser.getVersion()));
      String built = service.at("/build/target").asText();
      assertThat(service.path("image").asText().startsWith("radixflow-"))
          .isEqualTo(!built.isEmpty());
      if (!built.isEmpty()) {
        assertThat(dockerfile)
            .contains(
                "FROM flink:%s-scala_2.12-java17 AS %s\n"
                    .formatted(EnvironmentInformation.getVersion(), built));
      }
    }
  }

  @Test
  void portsArePublishedOnLoopbackAlone() {
    List<String> ports =
        compose.path("services").findValues("ports").stream()
            .flatMap(list -> DeployFiles.texts(list).stream())
            .toList();
    assertThat(ports).hasSize(6).doesNotHaveDuplicates().allMatch(p -> p.startsWith("127.0.0.1:"));
    // a page of another site could cancel the job by a GET, since its id follows from the cluster's
    assertThat(ports).noneMatch(port -> port.contains("8081"));
  }

  @Test
  void everyServiceThatStaysSaysWhetherItIsHealthy() {
    compose
        .path("services")
        .fields()
        .forEachRemaining(
            service ->
                assertThat(service.getValue().has("healthcheck"))
                    .as(service.getKey())
                    .isEqualTo(service.getValue().has("restart")));
  }

  @Test
  void filesThatAreMountedAreThere() {
    for (JsonNode volumes : compose.path("services").findValues("volumes")) {
      for (String volume : DeployFiles.texts(volumes)) {
        if (volume.startsWith("./")) {
          assertThat(DeployFiles.ROOT.resolve(volume.split(":")[0])).exists();
        }
      }
    }
  }

  @Test
  void everyFlinkProcessKeepsTheJvmFlagsOfItsImage() {
    assertThat(dockerfile).contains("FROM flink:2.3.0-scala_2.12-java17 AS flink\n");
    for (String name : FLINK) {
      assertThat(properties(name)).doesNotContain("env.java");
    }
  }

  @Test
  void theWebPortIsAsClosedAsThatOfUp() {
    LoopbackFlink.web(WebAccess.NO_SUBMISSION)
        .forEach(
            (key, value) -> {
              if (key.startsWith("web.")) {
                assertThat(properties("jobmanager").lines()).contains(key + ": " + value);
              }
            });
  }

  @Test
  void theJobLiesInUsrlibAndTheKernelsInLib() {
    assertThat(dockerfile)
        .contains(
            "COPY --from=build /radixflow/engine/target/radixflow-kernels-lib.jar"
                + " /opt/flink/lib/\n",
            "COPY --from=build /radixflow/jobs/target/radixflow-job.jar /opt/flink/usrlib/\n",
            "COPY " + LOGGING + " /opt/flink/conf/\n",
            "COPY " + ZOOKEEPER + " /opt/flink/conf/\n");
    assertThat(Path.of("..", ZOOKEEPER)).exists();
  }

  @Test
  void prometheusReadsFromThePortsThatFlinkAndTheGatewayHave() throws Exception {
    JsonNode jobs = DeployFiles.yaml("deploy/prometheus/prometheus.yml").path("scrape_configs");
    JsonNode flink = jobs.at("/0/dns_sd_configs/0");
    assertThat(DeployFiles.texts(flink.path("names")))
        .containsExactly("jobmanager", "taskmanager", "taskmanager-gpu");
    assertThat(properties("taskmanager").lines())
        .contains("metrics.reporter.prom.port: " + flink.path("port").asInt());
    JsonNode gateway = jobs.at("/1/dns_sd_configs/0");
    assertThat(DeployFiles.texts(gateway.path("names"))).containsExactly("gateway");
    assertThat(settings("gateway", 0).get(GatewayConfig.PORT))
        .isEqualTo(gateway.path("port").asInt());
  }

  @Test
  void threeBrokersAreAProfileWithAllThatItNeeds() throws Exception {
    Properties replicated = new Properties();
    replicated.load(new StringReader(Files.readString(Path.of("../deploy/replicated.env"))));
    Set<String> used = new TreeSet<>();
    Matcher variable = VARIABLE.matcher(Files.readString(Path.of("../docker-compose.yml")));
    while (variable.find()) {
      used.add(variable.group(1));
    }
    for (String name : replicated.stringPropertyNames()) {
      assertThat(name).matches(each -> each.equals("COMPOSE_PROFILES") || used.contains(each));
    }
    List<String> brokers = new ArrayList<>();
    List<String> voters = new ArrayList<>();
    compose
        .path("services")
        .fields()
        .forEachRemaining(
            service -> {
              JsonNode environment = service.getValue().path("environment");
              if (environment.has("KAFKA_NODE_ID")) {
                brokers.add(service.getKey() + ":29092");
                voters.add(
                    environment.path("KAFKA_NODE_ID").asText() + "@" + service.getKey() + ":29093");
                assertThat(environment.path("KAFKA_ADVERTISED_LISTENERS").asText())
                    .startsWith("INSIDE://" + service.getKey() + ":29092,");
              }
            });
    assertThat(replicated)
        .containsEntry("RADIXFLOW_BROKERS", String.join(",", brokers))
        .containsEntry("RADIXFLOW_VOTERS", String.join(",", voters))
        .containsEntry("RADIXFLOW_REPLICAS", Integer.toString(brokers.size()));
    for (String name : List.of("kafka-2", "kafka-3")) {
      assertThat(DeployFiles.texts(service(name).path("profiles")))
          .containsExactly(replicated.getProperty("COMPOSE_PROFILES"));
    }
  }

  @Test
  void logsDoNotGrowByWarningsOfEveryCheckpoint() throws Exception {
    String mounted = Files.readString(Path.of("..").resolve(LOGGING));
    for (String configuration : List.of(mounted, FlinkHome.LOG_CONFIGURATION)) {
      Properties log = new Properties();
      log.load(new StringReader(configuration));

      assertThat(MetricGroup.class.getName()).startsWith(log.getProperty("logger.metrics.name"));
      assertThat(log).containsEntry("logger.metrics.level", "ERROR");
    }
  }

  @Test
  void theSettingsOfJobAndGatewayAreKnownAndPointAtTheComposedKafka() {
    assertThat(DeployFiles.texts(service("jobmanager").path("command")))
        .startsWith("standalone-job", "--job-classname", JOB);
    Settings job = settings("jobmanager", 3);
    assertThat(job.get(KafkaConfig.BOOTSTRAP_SERVERS)).isEqualTo("kafka:29092");
    assertThat(job.get(SharedConfig.MODEL)).isEqualTo("/opt/radixflow/model.gguf");
    Settings gateway = settings("gateway", 0);
    assertThat(gateway.get(KafkaConfig.BOOTSTRAP_SERVERS)).isEqualTo("kafka:29092");
    assertThat(gateway.get(GatewayConfig.HOST)).isEqualTo("0.0.0.0");
  }

  @Test
  void everyTopicOfTheJobIsCreated(@TempDir Path dir) throws Exception {
    Path calls = dir.resolve("calls");
    Path kafkaTopics = dir.resolve("kafka-topics.sh");
    Files.writeString(kafkaTopics, "#!/bin/sh\necho \"$@\" >>'" + calls + "'\n");
    assertThat(kafkaTopics.toFile().setExecutable(true)).isTrue();
    String script =
        DeployFiles.texts(service("topics").path("command"))
            .get(0)
            .replace("$$", "$")
            .replace("/opt/kafka/bin/kafka-topics.sh", kafkaTopics.toString());
    List<String> command = new ArrayList<>(DeployFiles.texts(service("topics").path("entrypoint")));
    command.add(script);
    ProcessBuilder shell = new ProcessBuilder(command);
    shell.environment().putAll(Map.of("BROKERS", "kafka:29092", "REPLICAS", "3"));

    assertThat(shell.inheritIO().start().waitFor()).isZero();

    String common =
        "--bootstrap-server kafka:29092 --create --if-not-exists --partitions 4"
            + " --replication-factor 3 --topic ";
    assertThat(Files.readAllLines(calls))
        .containsExactlyInAnyOrder(
            common + KafkaConfig.EVENTS_TOPIC.defaultValue(),
            common + KafkaConfig.CONTROL_TOPIC.defaultValue(),
            common + KafkaConfig.REPLIES_TOPIC.defaultValue(),
            common + KafkaConfig.DELTAS_TOPIC.defaultValue(),
            common + KafkaConfig.DEAD_LETTERS_TOPIC.defaultValue(),
            common
                + KafkaConfig.KV_EVENTS_TOPIC.defaultValue()
                + " --config cleanup.policy=compact",
            common
                + KafkaConfig.INDEX_TOPIC.defaultValue()
                + " --config cleanup.policy=compact --config max.compaction.lag.ms=86400000");
  }

  private static Settings settings(String service, int skipped) {
    return new SettingsLoader()
        .set(
            DeployFiles.texts(service(service).path("command")).stream()
                .skip(skipped)
                .filter(argument -> !argument.equals("--set"))
                .map(argument -> VARIABLE.matcher(argument).replaceAll("$2"))
                .toList())
        .load();
  }

  private static String properties(String service) {
    return service(service).path("environment").path("FLINK_PROPERTIES").asText();
  }

  private static JsonNode service(String name) {
    return compose.path("services").path(name);
  }

  /**
   * The specification's schema without its {@code id}s, which are of an older draft, and without
   * formats: its durations are not JSON Schema's.
   */
  private static JsonSchema schema() throws IOException {
    try (InputStream in = ComposeFileTest.class.getResourceAsStream("/compose/compose-spec.json")) {
      ObjectNode schema = (ObjectNode) new ObjectMapper().readTree(in);
      schema.remove("$schema");
      for (JsonNode parent : schema.findParents("id")) {
        if (parent.path("id").isTextual()) {
          ((ObjectNode) parent).remove("id");
        }
      }
      return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7)
          .getSchema(
              schema, SchemaValidatorsConfig.builder().formatAssertionsEnabled(false).build());
    }
  }
}
