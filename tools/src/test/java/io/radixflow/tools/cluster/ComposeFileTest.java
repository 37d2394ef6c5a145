package io.radixflow.tools.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaValidatorsConfig;
import com.networknt.schema.SpecVersion;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.config.SettingsLoader;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.stream.StreamSupport;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.apache.kafka.common.utils.AppInfoParser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

class ComposeFileTest {

  private static final String LOGGING = "jobs/src/main/docker/log4j-console.properties";
  private static final String JOB = "io.radixflow.jobs.RadixflowJob";

  private static JsonNode compose;

  @BeforeAll
  static void read() throws Exception {
    Object merged =
        new Yaml(new SafeConstructor(new LoaderOptions()))
            .load(Files.readString(Path.of("../docker-compose.yml")));
    compose = new ObjectMapper().valueToTree(merged);
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
          .isIn(
              "flink:" + EnvironmentInformation.getVersion() + "-scala_2.12-java17",
              "apache/kafka:" + AppInfoParser.getVersion());
    }
  }

  @Test
  void portsArePublishedOnLoopbackAlone() {
    List<String> ports =
        compose.path("services").findValues("ports").stream()
            .flatMap(list -> texts(list).stream())
            .toList();
    assertThat(ports).hasSize(2).allMatch(port -> port.startsWith("127.0.0.1:"));
  }

  @Test
  void everyFlinkProcessGetsTheJvmFlagsThatTheProcessTestsUse() {
    for (String name : List.of("jobmanager", "taskmanager")) {
      String properties = service(name).path("environment").path("FLINK_PROPERTIES").asText();
      assertThat(properties.lines())
          .contains("env.java.opts.all: " + String.join(" ", JvmFlags.ALL));
    }
  }

  @Test
  void theJobLiesInUsrlibAndTheKernelsInLib() {
    for (String name : List.of("jobmanager", "taskmanager")) {
      assertThat(service(name).path("volumes"))
          .extracting(JsonNode::asText)
          .contains(
              "./jobs/target/radixflow-job.jar:/opt/flink/usrlib/radixflow-job.jar:ro",
              "./kernels/target/radixflow-kernels-lib.jar:/opt/flink/lib/radixflow-kernels-lib.jar:ro",
              "./" + LOGGING + ":/opt/flink/conf/log4j-console.properties:ro");
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
  void theJobsSettingsAreKnownAndPointAtTheComposedKafka() {
    List<String> command = texts(service("jobmanager").path("command"));
    assertThat(command).startsWith("standalone-job", "--job-classname", JOB);

    List<String> assignments =
        command.stream().skip(3).filter(argument -> !argument.equals("--set")).toList();
    Settings settings = new SettingsLoader().set(assignments).load();
    assertThat(settings.get(RadixflowOptions.BOOTSTRAP_SERVERS)).isEqualTo("kafka:29092");
    assertThat(settings.get(RadixflowOptions.MODEL)).isEqualTo("/opt/radixflow/model.gguf");
  }

  @Test
  void everyTopicOfTheJobIsCreated() {
    assertThat(texts(service("topics").path("command")).get(0))
        .contains(
            RadixflowOptions.EVENTS_TOPIC.defaultValue(),
            RadixflowOptions.CONTROL_TOPIC.defaultValue(),
            RadixflowOptions.REPLIES_TOPIC.defaultValue(),
            RadixflowOptions.DELTAS_TOPIC.defaultValue(),
            RadixflowOptions.DEAD_LETTERS_TOPIC.defaultValue(),
            "--topic "
                + RadixflowOptions.KV_EVENTS_TOPIC.defaultValue()
                + " --partitions 4 --replication-factor 1 --config cleanup.policy=compact");
  }

  private static List<String> texts(JsonNode list) {
    return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText).toList();
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
