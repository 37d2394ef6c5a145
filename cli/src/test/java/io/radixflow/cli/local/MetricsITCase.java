package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.flink.Scrape;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.jobs.ServingSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the metrics that Prometheus reads from the job with the metrics that documents, rules,
 * alerts and dashboard name.
 */
class MetricsITCase {

  private static final Path ROOT = Path.of("..");
  private static final String SERVING = "flink_taskmanager_job_task_operator_serving_";
  private static final Pattern EXPORTED = Pattern.compile("\\bflink_\\w+");

  @TempDir static Path tier;
  private static Scrape scrape;

  @BeforeAll
  static void serveOneTurn() throws Exception {
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "model=sim",
                    "job.checkpoint-interval=200ms",
                    "tiers.host-memory=8mb",
                    "tiers.disk-size=8mb",
                    "tiers.disk-min-free=0b",
                    "tiers.disk-directory=" + tier))
            .load();
    try (LocalStack stack =
            LocalStack.start(
                settings,
                new LocalStack.Options(Optional.empty(), true, 0, 0),
                ServingSettings.engine(settings, LocatedModel::open),
                line -> {});
        ConversationClient client = new ConversationClient(stack.settings())) {
      client
          .ask(Events.message("a", "1", "What is measured?", 5), ReplyListener.SILENT)
          .get(60, TimeUnit.SECONDS);
      scrape = Scrape.of(stack.metrics());
    }
  }

  @Test
  void everyDocumentedMetricIsExported() throws IOException {
    Set<String> documented = new TreeSet<>();
    Matcher row =
        Pattern.compile("^\\| `([^`:]+)` \\|", Pattern.MULTILINE)
            .matcher(Files.readString(ROOT.resolve("docs/metrics.md")));
    while (row.find()) {
      documented.add(SERVING + row.group(1).replaceAll("\\.<\\w+>", "").replace('.', '_'));
    }
    assertThat(documented).hasSizeGreaterThan(60);
    assertThat(scrape.names()).containsAll(documented);
  }

  @Test
  void theTurnIsCounted() {
    assertThat(scrape.sum(SERVING + "turnsAccepted", "operator_name=\"serving\"")).isEqualTo(1);
    assertThat(scrape.sum(SERVING + "reason_replies", "reason=")).isEqualTo(1);
    assertThat(scrape.sum(SERVING + "queueTimeMillis_count", "")).isEqualTo(1);
    assertThat(scrape.sum(SERVING + "timeToFirstTokenMillis_count", "")).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"prometheus/rules.yml", "prometheus/alerts.yml", "grafana/radixflow.json"})
  void everyMetricThatAFileNamesIsExported(String file) throws IOException {
    Set<String> named = new TreeSet<>();
    Matcher name = EXPORTED.matcher(Files.readString(ROOT.resolve("deploy").resolve(file)));
    while (name.find()) {
      named.add(name.group());
    }
    assertThat(named).isNotEmpty();
    assertThat(scrape.names()).containsAll(named);
  }
}
