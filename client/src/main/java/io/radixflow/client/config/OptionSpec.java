package io.radixflow.client.config;

import java.util.Locale;
import java.util.function.Predicate;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.description.Formatter;
import org.apache.flink.configuration.description.HtmlFormatter;

/**
 * An option with its valid values and its environment variable, which Flink's type does not have.
 *
 * @param option key, type, default and description
 * @param allowed the valid values, for people
 * @param valid whether a parsed value is one of them
 * @param secret whether its value is never shown
 */
public record OptionSpec<T>(
    ConfigOption<T> option, String allowed, Predicate<T> valid, boolean secret) {

  public String key() {
    return option.key();
  }

  /** The name of the option's environment variable, after the prefix. */
  String suffix() {
    return key().toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  public String description() {
    Formatter formatter = new HtmlFormatter();
    return formatter.format(option.description());
  }

  /**
   * Checks the option's value in a configuration.
   *
   * @throws SettingsException if it cannot be parsed or is not valid
   */
  void check(Configuration configuration) {
    T value;
    try {
      value = configuration.get(option);
    } catch (IllegalArgumentException e) {
      throw wrong(configuration);
    }
    if (value != null && !valid.test(value)) {
      throw wrong(configuration);
    }
  }

  private SettingsException wrong(Configuration configuration) {
    String value = configuration.toMap().get(key());
    return new SettingsException(key() + " is '" + value + "'; it must be " + allowed);
  }
}
