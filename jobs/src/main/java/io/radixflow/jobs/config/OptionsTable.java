package io.radixflow.jobs.config;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.flink.configuration.MemorySize;

/** The documentation of all options as a Markdown table. */
public final class OptionsTable {

  private OptionsTable() {}

  /** The table, one line an option, ending with a newline. */
  public static String markdown() {
    StringBuilder table =
        new StringBuilder("| option | default | valid | meaning |\n|---|---|---|---|\n");
    for (OptionSpec<?> spec : RadixflowOptions.specs()) {
      table
          .append("| `")
          .append(spec.key())
          .append("` | ")
          .append(defaultValue(spec.option().defaultValue()))
          .append(" | ")
          .append(spec.allowed())
          .append(" | ")
          .append(spec.description())
          .append(" |\n");
    }
    row(
        table,
        Settings.FLINK_PREFIX,
        "Flink's own options, for example `flink.state.backend.type`.");
    row(
        table,
        Settings.KAFKA_CLIENT_PREFIX,
        "Options of all Kafka clients, for example `kafka.client.security.protocol`.");
    return table.toString();
  }

  private static void row(StringBuilder table, String prefix, String description) {
    table.append("| `").append(prefix).append("*` | | | ").append(description).append(" |\n");
  }

  private static String defaultValue(Object value) {
    if (value == null || value.equals(List.of())) {
      return "";
    }
    return "`" + shown(value) + "`";
  }

  private static String shown(Object value) {
    if (value instanceof Duration time) {
      return shown(time);
    }
    if (value instanceof MemorySize size) {
      return Long.toString(size.getBytes());
    }
    if (value instanceof Enum<?> choice) {
      return choice.toString().toLowerCase(Locale.ROOT);
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Object::toString).collect(Collectors.joining(";"));
    }
    return value.toString();
  }

  /** In the largest unit that divides it. */
  private static String shown(Duration time) {
    if (time.toMillisPart() != 0) {
      return time.toMillis() + "ms";
    }
    if (time.toSecondsPart() != 0) {
      return time.toSeconds() + "s";
    }
    if (time.toMinutesPart() != 0) {
      return time.toMinutes() + "min";
    }
    return time.toHoursPart() != 0 ? time.toHours() + "h" : time.toDays() + "d";
  }
}
