package io.radixflow.jobs.config;

import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.SettingsLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.util.TimeUtils;

/** The documentation of all options, {@code docs/options.md}: a Markdown table for each section. */
public final class OptionsTable {
  private static final String HEAD =
      """
      # Options

      Later sources win: the defaults below, `--config FILE` (YAML; nested maps and dotted keys are
      the same), environment variables, `--set key=value`. The variable of `kafka.topic.events` is
      `RADIXFLOW_KAFKA_TOPIC_EVENTS`. Unknown keys and invalid values are refused at start. Lists
      are separated by semicolons; durations are written `200ms`, `10s`, `7d`, sizes `512mb`,
      `20gb`.

      The model, its device and the options that were given are shown on Flink's page of the job,
      secrets masked.

      This file is generated: `mvn -pl jobs -am test -Dtest=OptionsTableTest -Dupdate=true
      -Dsurefire.failIfNoSpecifiedTests=false` writes it.
      """;

  /** Details of valid values that error messages have and the table leaves out. */
  private static final Pattern VALID_DETAILS =
      Pattern.compile(
          "^an? (integer|number), | that is not empty$| of at least 1 ms, such as .*|,? such as \\d.*");

  /** Sections by the first part of an option's key, in the order of the file. */
  private static final List<Map.Entry<String, String>> SECTIONS =
      List.of(
          Map.entry("model", "Model"),
          Map.entry("gpu", "GPU"),
          Map.entry("engine", "Engine"),
          Map.entry("kv-events", "KV events"),
          Map.entry("session", "Sessions"),
          Map.entry("operator", "Limits of a TaskManager"),
          Map.entry("generation", "Generation"),
          Map.entry("events", "Sizes of records"),
          Map.entry("replies", "Sizes of records"),
          Map.entry("dead-letters", "Sizes of records"),
          Map.entry("kafka", "Kafka"),
          Map.entry("job", "Flink job"),
          Map.entry("cache", "Prefix cache"),
          Map.entry("tiers", "Tiers below the device"),
          Map.entry("scheduler", "Scheduler"),
          Map.entry("gateway", "HTTP gateway"));

  private OptionsTable() {}

  /** The whole file. */
  public static String markdown() {
    Map<String, List<OptionSpec<?>>> sections = new LinkedHashMap<>();
    for (Map.Entry<String, String> section : SECTIONS) {
      sections
          .computeIfAbsent(section.getValue(), name -> new ArrayList<>())
          .addAll(withPrefix(section.getKey()));
    }
    StringBuilder file = new StringBuilder(HEAD);
    sections.forEach((name, options) -> section(file, name, options));
    file.append(
        """

        ## Options of Flink and of Kafka clients

        | prefix | meaning |
        |---|---|
        | `flink.` | Flink's own options, for example `flink.state.backend.type`. |
        | `kafka.client.` | Options of all Kafka clients, for example `kafka.client.security.protocol`. |
        """);
    return file.toString();
  }

  private static List<OptionSpec<?>> withPrefix(String prefix) {
    return SettingsLoader.specs().stream()
        .filter(spec -> spec.key().split("\\.")[0].equals(prefix))
        .toList();
  }

  private static void section(StringBuilder file, String name, List<OptionSpec<?>> options) {
    file.append("\n## ").append(name).append("\n\n");
    file.append("| option | default | valid | meaning |\n|---|---|---|---|\n");
    for (OptionSpec<?> spec : options) {
      file.append("| `")
          .append(spec.key())
          .append("` | ")
          .append(defaultValue(spec.option().defaultValue()))
          .append(" | ")
          .append(VALID_DETAILS.matcher(spec.allowed()).replaceAll(""))
          .append(" | ")
          .append(spec.description())
          .append(" |\n");
    }
  }

  private static String defaultValue(Object value) {
    if (value == null || value.equals(List.of())) {
      return "";
    }
    return "`" + shown(value) + "`";
  }

  private static String shown(Object value) {
    if (value instanceof Duration time) {
      return TimeUtils.formatWithHighestUnit(time).replace(" ", "");
    }
    if (value instanceof MemorySize size) {
      return size.toString().replaceAll(" (bytes)?", "");
    }
    if (value instanceof Enum<?> choice) {
      return choice.toString().toLowerCase(Locale.ROOT);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Object::toString).collect(Collectors.joining(";"));
    }
    return value.toString();
  }
}
