package io.radixflow.client.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions.TypedConfigOptionBuilder;
import org.apache.flink.configuration.MemorySize;

/**
 * Collects options with their descriptions and valid values as they are declared. A null default
 * means that the option has no default.
 */
public final class OptionGroup {

  private static final String TEXT = "a text that is not empty";

  private final List<OptionSpec<?>> specs = new ArrayList<>();

  /** An option without a description; only {@link #describe} adds it to the group. */
  @FunctionalInterface
  public interface Draft<T> {
    ConfigOption<T> describe(String description);
  }

  /** All declared options, in order. */
  public List<OptionSpec<?>> specs() {
    return List.copyOf(specs);
  }

  public Draft<String> text(String key, String byDefault) {
    return add(option(key(key).stringType(), byDefault), TEXT, text -> !text.isBlank());
  }

  /** A text that is never shown. */
  public Draft<String> secret(String key) {
    return add(key(key).stringType().noDefaultValue(), TEXT, text -> !text.isBlank(), true);
  }

  public Draft<Boolean> flag(String key, boolean byDefault) {
    return add(key(key).booleanType().defaultValue(byDefault), "true or false", value -> true);
  }

  public Draft<Duration> duration(String key, Duration byDefault) {
    return duration(
        key, byDefault, Duration.ofMillis(1), "a duration of at least 1 ms, such as 10s or 7d");
  }

  public Draft<Duration> duration(String key, Duration byDefault, Duration least, String allowed) {
    return add(
        key(key).durationType().defaultValue(byDefault),
        allowed,
        time -> time.compareTo(least) >= 0);
  }

  public Draft<MemorySize> size(String key, MemorySize byDefault, String allowed) {
    return add(key(key).memoryType().defaultValue(byDefault), allowed, size -> true);
  }

  public Draft<Integer> integer(String key, Integer byDefault, int min, int max) {
    return add(
        option(key(key).intType(), byDefault),
        "an integer, " + (max == Integer.MAX_VALUE ? min + " or more" : min + " to " + max),
        value -> value >= min && value <= max);
  }

  public Draft<Double> number(String key, Double byDefault, double min, double max) {
    return add(
        option(key(key).doubleType(), byDefault),
        "a number, " + min + " to " + max,
        value -> value >= min && value <= max);
  }

  public <E extends Enum<E>> Draft<E> choice(String key, E byDefault) {
    Class<E> type = byDefault.getDeclaringClass();
    String allowed =
        Arrays.stream(type.getEnumConstants())
            .map(value -> value.toString().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    return add(key(key).enumType(type).defaultValue(byDefault), "one of " + allowed, value -> true);
  }

  public <T> Draft<T> add(ConfigOption<T> option, String allowed, Predicate<T> valid) {
    return add(option, allowed, valid, false);
  }

  private <T> Draft<T> add(
      ConfigOption<T> option, String allowed, Predicate<T> valid, boolean secret) {
    return description -> {
      ConfigOption<T> described = option.withDescription(description);
      specs.add(new OptionSpec<>(described, allowed, valid, secret));
      return described;
    };
  }

  private static <T> ConfigOption<T> option(TypedConfigOptionBuilder<T> type, T byDefault) {
    return byDefault == null ? type.noDefaultValue() : type.defaultValue(byDefault);
  }
}
