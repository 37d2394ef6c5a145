package io.radixflow.gateway.api;

import static java.util.stream.Collectors.joining;

import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/** Other names of the served model, from {@code gateway.model-aliases}. */
final class ModelAliases {

  private final List<String> names = new ArrayList<>();
  private final List<Pattern> patterns = new ArrayList<>();

  /**
   * @param model the name of the served model
   * @throws SettingsException if an alias means another model
   */
  ModelAliases(Settings settings, String model) {
    for (String entry : settings.get(GatewayConfig.MODEL_ALIASES)) {
      for (String alias : entry.split(",")) {
        if (!alias.isBlank()) {
          add(alias.strip(), model);
        }
      }
    }
  }

  private void add(String alias, String model) {
    int equals = alias.indexOf('=');
    String name = equals < 0 ? alias : alias.substring(0, equals).strip();
    String target = equals < 0 ? model : alias.substring(equals + 1).strip();
    if (name.isEmpty() || !target.equals(model)) {
      throw new SettingsException(
          "gateway.model-aliases has "
              + alias
              + "; it must be a name, or a name with ="
              + model
              + ", which is the model that this gateway serves");
    }
    if (name.contains("*")) {
      String pattern =
          Arrays.stream(name.split("\\*", -1)).map(Pattern::quote).collect(joining(".*"));
      patterns.add(Pattern.compile(pattern, Pattern.DOTALL));
    } else {
      names.add(name);
    }
  }

  /** Returns the aliases that are whole names. */
  List<String> names() {
    return names;
  }

  boolean match(String requested) {
    return names.contains(requested)
        || patterns.stream().anyMatch(pattern -> pattern.matcher(requested).matches());
  }
}
