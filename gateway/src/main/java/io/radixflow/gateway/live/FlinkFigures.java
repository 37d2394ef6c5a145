package io.radixflow.gateway.live;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Figures of the serving job from Flink: its checkpoints, and metrics of docs/metrics.md summed
 * over subtasks or engines. Counters have Flink's values. Readers compute rates by dividing
 * differences of counters by the difference of {@code uptime_ms}, which Flink reads at the same
 * time.
 */
final class FlinkFigures implements LiveSampler.Source {

  /** The most jobs to search for the serving job. */
  private static final int MAX_JOBS = 20;

  /** The most TaskManagers in one request, because Flink accepts no line above 4,096 characters. */
  private static final int ENGINES_A_REQUEST = 200;

  private static final String TTFT = "timeToFirstTokenMillis";
  private static final String QUEUED = "queueTimeMillis";

  /** Metrics of each subtask. */
  private static final List<String> OF_SUBTASKS =
      List.of(
          """
          turnsAccepted turnsRunning turnsPending sessionsOpen sessionsHot sessionsWarm
          sessionsCold sessionsGone eventsRejected promptTokens cachedTokens generatedTokens
          """
              .split("\\s+"));

  /** Metrics that all subtasks of a TaskManager share. */
  private static final List<String> OF_ENGINES =
      List.of(
          """
          engineSteps engineTokensPrefilled engineTokensCached engineTokensGenerated
          requestsRunning requestsWaiting preemptions pages pagesFree pagesEvictable
          pagesProtected pagesInFlight pagesEvicted sessionPages hostPages hostPagesUsed
          tier.disk.storePages tier.disk.storeBytes tier.disk.storeBytesLimit
          tier.remote.storePages tier.remote.storeBytes tier.remote.storeBytesLimit
          """
              .split("\\s+"));

  /**
   * Percentiles, which cannot be added up. The page shows the percentile of the slowest subtask.
   */
  private static final List<String> PERCENTILES =
      List.of(TTFT + "_median", TTFT + "_p99", QUEUED + "_median", QUEUED + "_p99");

  private final FlinkRest flink;

  /** The id of the job that was found last. */
  private String job;

  private String vertex;
  private String prefix;

  FlinkFigures(FlinkRest flink) {
    this.flink = flink;
  }

  @Override
  public byte[] sample(BooleanSupplier stopped) throws IOException {
    ObjectNode figures = Json.object().put("status", "ok");
    String state = findJob();
    figures.put("job", state);
    JsonNode details = flink.get("jobs/" + job + "/vertices/" + vertex);
    List<Integer> engines = engines(details);
    figures.put("subtasks", details.path("subtasks").size()).put("engines", engines.size());
    for (JsonNode metric : flink.get("jobs/" + job + "/metrics?get=uptime")) {
      figures.put("uptime_ms", metric.path("value").asLong());
    }
    addMetrics(figures, engines);
    addCheckpoints(figures.putObject("checkpoints"));
    return Json.write(figures);
  }

  /**
   * Finds the job, unless the job that was found last still runs.
   *
   * @return Flink's name of the job's state
   */
  private String findJob() throws IOException {
    List<JsonNode> jobs = new ArrayList<>();
    for (JsonNode each : flink.get("jobs/overview").path("jobs")) {
      if (!List.of("FINISHED", "CANCELED", "FAILED").contains(each.path("state").asText())) {
        jobs.add(each);
      }
    }
    for (JsonNode each : jobs) {
      if (each.path("jid").asText().equals(job)) {
        return each.path("state").asText();
      }
    }
    for (JsonNode each : jobs.subList(0, Math.min(MAX_JOBS, jobs.size()))) {
      String id = each.path("jid").asText();
      if (!id.matches("[0-9a-f]{32}")) {
        continue;
      }
      for (JsonNode one : flink.get("jobs/" + id).path("vertices")) {
        if (one.path("name").asText().startsWith("serving")
            && one.path("id").asText().matches("[0-9a-f]{32}")) {
          job = id;
          vertex = one.path("id").asText();
          prefix = null;
          return each.path("state").asText();
        }
      }
    }
    throw new IOException("Flink answers, but runs no job of Radixflow");
  }

  /** Returns the index of one subtask per TaskManager. */
  private static List<Integer> engines(JsonNode details) {
    Map<String, Integer> first = new LinkedHashMap<>();
    for (JsonNode subtask : details.path("subtasks")) {
      first.putIfAbsent(subtask.path("taskmanager-id").asText(), subtask.path("subtask").asInt());
    }
    return List.copyOf(first.values());
  }

  private void addMetrics(ObjectNode figures, List<Integer> engines) throws IOException {
    ObjectNode metrics = figures.putObject("metrics");
    if (!findPrefix()) {
      return;
    }
    Map<String, Double> values = new HashMap<>();
    fetch(OF_SUBTASKS, "&agg=sum", values);
    for (int from = 0; from < engines.size(); from += ENGINES_A_REQUEST) {
      List<Integer> some =
          engines.subList(from, Math.min(engines.size(), from + ENGINES_A_REQUEST));
      String subtasks = some.stream().map(String::valueOf).collect(Collectors.joining(","));
      fetch(OF_ENGINES, "&agg=sum&subtasks=" + subtasks, values);
    }
    fetch(PERCENTILES, "&agg=max", values);
    values.forEach(metrics::put);
  }

  /**
   * Finds the prefix of the metrics' names in Flink. The names exist only after the subtasks have
   * started.
   */
  private boolean findPrefix() throws IOException {
    if (prefix == null) {
      String known = ".serving." + OF_SUBTASKS.get(0);
      for (JsonNode metric : flink.get(metricsPath())) {
        String id = metric.path("id").asText();
        if (id.endsWith(known) && id.matches("[A-Za-z0-9_.-]{1,80}")) {
          prefix = id.substring(0, id.length() - OF_SUBTASKS.get(0).length());
        }
      }
    }
    return prefix != null;
  }

  private String metricsPath() {
    return "jobs/" + job + "/vertices/" + vertex + "/subtasks/metrics";
  }

  private void fetch(Collection<String> names, String how, Map<String, Double> values)
      throws IOException {
    String get = names.stream().map(name -> prefix + name).collect(Collectors.joining(","));
    for (JsonNode metric : flink.get(metricsPath() + "?get=" + get + how)) {
      String id = metric.path("id").asText();
      double value = metric.path(how.startsWith("&agg=max") ? "max" : "sum").asDouble();
      if (id.startsWith(prefix) && Double.isFinite(value)) {
        values.merge(id.substring(prefix.length()), value, Double::sum);
      }
    }
  }

  private void addCheckpoints(ObjectNode checkpoints) throws IOException {
    JsonNode stats = flink.get("jobs/" + job + "/checkpoints");
    JsonNode counts = stats.path("counts");
    checkpoints
        .put("completed", counts.path("completed").asLong())
        .put("failed", counts.path("failed").asLong())
        .put("in_progress", counts.path("in_progress").asLong());
    JsonNode last = stats.at("/latest/completed");
    if (last.isObject()) {
      checkpoints
          .put("last_at", last.path("latest_ack_timestamp").asLong())
          .put("last_duration_ms", last.path("end_to_end_duration").asLong())
          .put("last_bytes", last.path("checkpointed_size").asLong())
          .put("last_state_bytes", last.path("state_size").asLong());
    }
    JsonNode failed = stats.at("/latest/failed");
    if (failed.isObject()) {
      checkpoints.put("failed_at", failed.path("failure_timestamp").asLong());
    }
  }
}
