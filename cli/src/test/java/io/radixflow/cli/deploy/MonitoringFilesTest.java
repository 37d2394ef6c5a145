package io.radixflow.cli.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The files for Prometheus and Grafana, as far as they can be checked without them. */
class MonitoringFilesTest {

  private static final String METRIC_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
  private static final String DURATION = "\\d+[smh]";

  @Test
  void recordedNamesAreThoseThatAreDocumented() throws IOException {
    Set<String> recorded = new TreeSet<>();
    for (JsonNode rule : rules("deploy/prometheus/rules.yml")) {
      assertThat(fields(rule)).containsExactlyInAnyOrder("record", "expr");
      assertThat(rule.path("record").asText()).matches(METRIC_NAME);
      assertThat(recorded.add(rule.path("record").asText())).as(rule.toString()).isTrue();
      assertBalanced(rule.path("expr").asText());
    }
    Set<String> documented = new TreeSet<>();
    Matcher row =
        Pattern.compile("^\\| (`vllm:[^|]+) \\|", Pattern.MULTILINE)
            .matcher(Files.readString(DeployFiles.ROOT.resolve("docs/metrics.md")));
    while (row.find()) {
      documented.addAll(List.of(row.group(1).replace("`", "").split(", ")));
    }
    assertThat(recorded).isEqualTo(documented);
  }

  @Test
  void everyAlertSaysWhatIsWrongAndWhatToDo() throws IOException {
    Set<String> names = new HashSet<>();
    for (JsonNode alert : rules("deploy/prometheus/alerts.yml")) {
      assertThat(fields(alert))
          .containsExactlyInAnyOrder("alert", "expr", "for", "labels", "annotations");
      assertThat(names.add(alert.path("alert").asText())).as(alert.toString()).isTrue();
      assertThat(alert.path("for").asText()).matches(DURATION);
      assertThat(alert.at("/labels/severity").asText()).isIn("info", "warning", "critical");
      assertThat(fields(alert.path("annotations")))
          .containsExactlyInAnyOrder("summary", "description");
      assertBalanced(alert.path("expr").asText());
    }
    assertThat(names)
        .contains(
            "RadixflowTurnsStuck",
            "RadixflowEventsLag",
            "RadixflowCheckpointsFail",
            "RadixflowTierFull");
  }

  @Test
  void everyMetricOfTheGatewayThatAFileNamesIsDocumentedThere() throws IOException {
    String documented = Files.readString(DeployFiles.ROOT.resolve("docs/gateway.md"));
    for (String file :
        List.of("prometheus/rules.yml", "prometheus/alerts.yml", "grafana/radixflow.json")) {
      Matcher name =
          Pattern.compile("radixflow_gateway_\\w+")
              .matcher(Files.readString(DeployFiles.ROOT.resolve("deploy").resolve(file)));
      Set<String> named = new TreeSet<>();
      while (name.find()) {
        named.add(name.group().replaceFirst("_(bucket|sum|count)$", ""));
      }
      assertThat(named).isNotEmpty();
      for (String metric : named) {
        assertThat(documented).contains("| `" + metric + "` |");
      }
    }
  }

  @Test
  void prometheusReadsTheRulesAndTheAlerts() throws IOException {
    JsonNode prometheus = DeployFiles.yaml("deploy/prometheus/prometheus.yml");
    assertThat(DeployFiles.texts(prometheus.path("rule_files")))
        .containsExactly("rules.yml", "alerts.yml");
  }

  @Test
  void panelsOfTheDashboardHaveAPlaceAndAQueryOfTheChosenDataSource() throws IOException {
    JsonNode dashboard =
        new ObjectMapper()
            .readTree(DeployFiles.ROOT.resolve("deploy/grafana/radixflow.json").toFile());
    Set<Integer> ids = new HashSet<>();
    Set<String> cells = new HashSet<>();
    for (JsonNode panel : dashboard.path("panels")) {
      assertThat(ids.add(panel.path("id").asInt())).isTrue();
      assertThat(panel.at("/datasource/uid").asText()).isEqualTo("${datasource}");
      JsonNode place = panel.path("gridPos");
      assertThat(place.path("x").asInt() + place.path("w").asInt()).isLessThanOrEqualTo(24);
      assertThat(cells.add(place.path("x").asInt() + "/" + place.path("y").asInt())).isTrue();
      assertThat(panel.path("targets")).isNotEmpty();
      for (JsonNode target : panel.path("targets")) {
        assertBalanced(target.path("expr").asText());
      }
    }
    assertThat(dashboard.at("/templating/list").findValuesAsText("name"))
        .containsExactly("datasource", "job");
  }

  private static List<JsonNode> rules(String file) throws IOException {
    List<JsonNode> rules = new ArrayList<>();
    for (JsonNode group : DeployFiles.yaml(file).path("groups")) {
      assertThat(fields(group)).containsExactlyInAnyOrder("name", "rules");
      group.path("rules").forEach(rules::add);
    }
    assertThat(rules).isNotEmpty();
    return rules;
  }

  private static List<String> fields(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static void assertBalanced(String expression) {
    assertThat(expression).isNotBlank();
    for (String pair : List.of("()", "{}", "[]")) {
      assertThat(count(expression, pair.charAt(0)))
          .as(expression)
          .isEqualTo(count(expression, pair.charAt(1)));
    }
  }

  private static long count(String text, char wanted) {
    return text.chars().filter(c -> c == wanted).count();
  }
}
