package io.radixflow.jobs.config;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;

/** Collects options with their descriptions and valid values as they are declared. */
final class OptionGroup {

  private final List<OptionSpec<?>> specs = new ArrayList<>();

  /** All options declared, in order. */
  List<OptionSpec<?>> specs() {
    return List.copyOf(specs);
  }

  ConfigOption<String> text(ConfigOption<String> option, String description) {
    return add(option, "a text that is not empty", text -> !text.isBlank(), description);
  }

  ConfigOption<Boolean> flag(ConfigOption<Boolean> option, String description) {
    return add(option, "true or false", value -> true, description);
  }

  ConfigOption<Duration> duration(ConfigOption<Duration> option, String description) {
    return duration(
        option,
        Duration.ofMillis(1),
        "a duration of at least 1 ms, such as 10s or 7d",
        description);
  }

  ConfigOption<Duration> duration(
      ConfigOption<Duration> option, Duration least, String allowed, String description) {
    return add(option, allowed, time -> time.compareTo(least) >= 0, description);
  }

  ConfigOption<Integer> range(ConfigOption<Integer> option, int min, int max, String description) {
    String allowed = max == Integer.MAX_VALUE ? min + " or more" : min + " to " + max;
    return add(
        option, "an integer, " + allowed, value -> value >= min && value <= max, description);
  }

  ConfigOption<Double> range(
      ConfigOption<Double> option, double min, double max, String description) {
    return add(
        option,
        "a number, " + min + " to " + max,
        value -> value >= min && value <= max,
        description);
  }

  <E extends Enum<E>> ConfigOption<E> choice(
      ConfigOption<E> option, E[] values, String description) {
    String allowed =
        Arrays.stream(values)
            .map(value -> value.toString().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    return add(option, "one of " + allowed, value -> true, description);
  }

  <T> ConfigOption<T> add(
      ConfigOption<T> option, String allowed, Predicate<T> valid, String description) {
    ConfigOption<T> described = option.withDescription(description);
    specs.add(new OptionSpec<>(described, allowed, valid));
    return described;
  }
}
