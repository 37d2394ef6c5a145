package io.radixflow.cli.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.apache.flink.runtime.util.EnvironmentInformation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

class KubernetesFilesTest {

  private static final String STATE = "/opt/radixflow/state";

  private static JsonNode flink;
  private static JsonNode gateway;
  private static JsonNode service;
  private static JsonNode definition;

  @BeforeAll
  static void read() throws IOException {
    flink = DeployFiles.documents("deploy/kubernetes/flink.yml").get(0);
    List<JsonNode> documents = DeployFiles.documents("deploy/kubernetes/gateway.yml");
    gateway = documents.get(0);
    service = documents.get(1);
    LoaderOptions large = new LoaderOptions();
    large.setCodePointLimit(4_000_000);
    try (InputStream in =
        new GZIPInputStream(
            KubernetesFilesTest.class.getResourceAsStream("/kubernetes/flinkdeployments.yml.gz"))) {
      JsonNode resource =
          new ObjectMapper().valueToTree(new Yaml(new SafeConstructor(large)).load(in));
      JsonNode version = resource.at("/spec/versions/0");
      assertThat(version.path("name").asText()).isEqualTo("v1beta1");
      definition = version.at("/schema/openAPIV3Schema/properties/spec");
    }
    refuseUnknownFields(definition);
  }

  @Test
  void theDeploymentOfFlinkFollowsTheOperatorsDefinition() {
    assertThat(flink.path("apiVersion").asText()).isEqualTo("flink.apache.org/v1beta1");
    assertThat(flink.path("kind").asText()).isEqualTo("FlinkDeployment");
    assertThat(schema("").validate(flink.path("spec"))).isEmpty();
  }

  @Test
  void theDefinitionRefusesAFieldThatItDoesNotKnow() {
    ObjectNode wrong = flink.path("spec").deepCopy();
    ((ObjectNode) wrong.path("job")).put("jarUrl", "local:///job.jar");
    assertThat(schema("").validate(wrong)).isNotEmpty();
  }

  /** The gateway's pod template is checked with the schema of the template of Flink's pods. */
  @Test
  void thePodsOfTheGatewayFollowKubernetesDefinition() {
    assertThat(schema("/properties/podTemplate").validate(gateway.at("/spec/template"))).isEmpty();
  }

  @Test
  void theFlinkIsTheOneThatTheBuildTests() {
    assertThat(EnvironmentInformation.getVersion())
        .startsWith(flink.at("/spec/flinkVersion").asText().substring(1).replace('_', '.') + ".");
  }

  @Test
  void flinkIsSetUpAsInTheComposeFile() throws IOException {
    JsonNode composed =
        DeployFiles.yaml("docker-compose.yml")
            .at("/services/jobmanager/environment/FLINK_PROPERTIES");
    JsonNode configuration = flink.at("/spec/flinkConfiguration");
    for (String line : composed.asText().lines().toList()) {
      String key = line.substring(0, line.indexOf(": "));
      if (!key.startsWith("high-availability.")
          && !key.equals("jobmanager.rpc.address")
          && !key.endsWith(".size")) {
        assertThat(configuration.path(key).asText())
            .as(key)
            .isEqualTo(line.substring(key.length() + 2));
      }
    }
    assertThat(configuration.path("high-availability.type").asText()).isEqualTo("kubernetes");
  }

  @Test
  void theJobsStateLiesInAVolumeThatAllPodsShare() {
    JsonNode configuration = flink.at("/spec/flinkConfiguration");
    for (String key :
        List.of(
            "high-availability.storageDir",
            "execution.checkpointing.dir",
            "execution.checkpointing.savepoint-dir")) {
      assertThat(configuration.path(key).asText()).startsWith("file://" + STATE + "/");
    }
    assertThat(
            flink
                .at("/spec/podTemplate/spec/containers/0/volumeMounts")
                .findValuesAsText("mountPath"))
        .contains(STATE);
  }

  @Test
  void podsNameThePortOfTheirMetrics() {
    JsonNode pods = flink.at("/spec/podTemplate");
    assertThat(pods.at("/metadata/annotations").path("prometheus.io/port").asText())
        .isEqualTo(flink.at("/spec/flinkConfiguration").path("metrics.reporter.prom.port").asText())
        .isEqualTo(pods.at("/spec/containers/0/ports/0/containerPort").asText());
    assertThat(
            gateway.at("/spec/template/metadata/annotations").path("prometheus.io/port").asText())
        .isEqualTo(gateway.at("/spec/template/spec/containers/0/ports/0/containerPort").asText());
  }

  @Test
  void theJobsArgumentsAreOptionsThatItKnows() {
    Settings settings = settings(flink.at("/spec/job/args"));
    assertThat(settings.get(SharedConfig.MODEL)).startsWith("/opt/radixflow/model/");
    assertThat(settings.get(KafkaConfig.BOOTSTRAP_SERVERS)).isEqualTo("kafka:9092");
    assertThat(flink.at("/spec/job/jarURI").asText())
        .isEqualTo("local:///opt/flink/usrlib/radixflow-job.jar");
  }

  @Test
  void theGatewayListensWhereProbesAndServiceAsk() {
    JsonNode container = gateway.at("/spec/template/spec/containers/0");
    Settings settings = settings(container.path("args"));
    assertThat(settings.get(GatewayConfig.HOST)).isEqualTo("0.0.0.0");
    assertThat(container.at("/ports/0/containerPort").asInt())
        .isEqualTo(settings.get(GatewayConfig.PORT));
    assertThat(container.at("/livenessProbe/httpGet/path").asText()).isEqualTo("/health");
    assertThat(container.at("/readinessProbe/httpGet/path").asText()).isEqualTo("/ready");
    assertThat(service.at("/spec/ports/0/targetPort"))
        .isEqualTo(container.at("/ports/0/name"))
        .isEqualTo(container.at("/readinessProbe/httpGet/port"));
    assertThat(service.at("/spec/selector"))
        .isEqualTo(gateway.at("/spec/selector/matchLabels"))
        .isEqualTo(gateway.at("/spec/template/metadata/labels"));
  }

  private static Settings settings(JsonNode arguments) {
    return new SettingsLoader()
        .set(
            DeployFiles.texts(arguments).stream()
                .filter(argument -> !argument.equals("--set"))
                .toList())
        .load();
  }

  private static JsonSchema schema(String path) {
    return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V7).getSchema(definition.at(path));
  }

  /** Kubernetes drops what it does not know, or warns; a test should fail. */
  private static void refuseUnknownFields(JsonNode schema) {
    if (schema instanceof ObjectNode object
        && object.path("properties").isObject()
        && !object.has("additionalProperties")) {
      object.put("additionalProperties", false);
    }
    schema.forEach(KubernetesFilesTest::refuseUnknownFields);
  }
}
