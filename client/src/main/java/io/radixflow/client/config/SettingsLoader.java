package io.radixflow.client.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.radixflow.models.io.RegularFiles;
import io.radixflow.protocol.json.NearestName;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;

/**
 * Loads settings from their sources. A later source wins: defaults, the YAML file, the environment,
 * {@code --set key=value}.
 *
 * <p>The variable of {@code kafka.topic.events} is {@code RADIXFLOW_KAFKA_TOPIC_EVENTS}. Unknown
 * keys and wrong values are refused; a variable is refused only if it looks like a misspelt option,
 * since launchers and container platforms set variables with the same prefix.
 */
public final class SettingsLoader {

  static final String VARIABLE_PREFIX = "RADIXFLOW_";

  private static final int MAX_FILE_BYTES = 1 << 20;

  private static final List<OptionSource> SOURCES =
      ServiceLoader.load(OptionSource.class, OptionSource.class.getClassLoader()).stream()
          .map(ServiceLoader.Provider::get)
          .toList();
  private static final List<OptionSpec<?>> SPECS =
      Stream.concat(
              Stream.of(SharedConfig.specs(), KafkaConfig.specs(), GatewayConfig.specs()),
              SOURCES.stream().map(OptionSource::specs))
          .<OptionSpec<?>>flatMap(List::stream)
          .toList();
  private static final Map<String, OptionSpec<?>> BY_KEY = by(OptionSpec::key);
  private static final Map<String, OptionSpec<?>> BY_SUFFIX = by(OptionSpec::suffix);

  private final Configuration configuration = new Configuration();

  private static Map<String, OptionSpec<?>> by(Function<OptionSpec<?>, String> name) {
    return SPECS.stream().collect(Collectors.toMap(name, spec -> spec, (a, b) -> a, TreeMap::new));
  }

  /** Returns all options that can be loaded. */
  public static List<OptionSpec<?>> specs() {
    return SPECS;
  }

  static boolean isSecret(String key) {
    return BY_KEY.get(key).secret();
  }

  /** Returns settings with only defaults. */
  public static Settings defaults() {
    return new SettingsLoader().load();
  }

  /**
   * Adds the values of a YAML file; nested maps and dotted keys are the same.
   *
   * @throws SettingsException if the file cannot be read, or a key is unknown
   */
  public SettingsLoader file(Path path) {
    try {
      if (Files.size(RegularFiles.require(path)) > MAX_FILE_BYTES) {
        throw new SettingsException(path + " is larger than " + MAX_FILE_BYTES + " bytes");
      }
      YAMLFactory factory =
          YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();
      JsonNode tree =
          new ObjectMapper(factory)
              .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
              .readTree(Files.readAllBytes(path));
      if (!tree.isObject() && !tree.isMissingNode() && !tree.isNull()) {
        throw new SettingsException(path + " is not a YAML map of options");
      }
      flatten("", tree, path.toString());
    } catch (JsonProcessingException e) {
      throw new SettingsException(
          path + " is not valid YAML: " + e.getOriginalMessage().lines().findFirst().orElse(""));
    } catch (IOException e) {
      String reason = e instanceof FileSystemException file ? file.getReason() : null;
      throw new SettingsException(
          "cannot read the options file " + path + (reason == null ? "" : ": " + reason));
    }
    return this;
  }

  /** Adds the values of environment variables. */
  public SettingsLoader environment(Map<String, String> variables) {
    for (Map.Entry<String, String> variable : new TreeMap<>(variables).entrySet()) {
      if (!variable.getKey().startsWith(VARIABLE_PREFIX)) {
        continue;
      }
      String suffix = variable.getKey().substring(VARIABLE_PREFIX.length());
      OptionSpec<?> spec = BY_SUFFIX.get(suffix);
      if (spec != null) {
        configuration.setString(spec.key(), variable.getValue());
        continue;
      }
      NearestName.of(suffix, BY_SUFFIX.keySet())
          .ifPresent(
              near -> {
                throw new SettingsException(
                    "the environment variable %s is unknown. Did you mean %s?"
                        .formatted(variable.getKey(), VARIABLE_PREFIX + near));
              });
    }
    return this;
  }

  /**
   * Adds values given as {@code key=value}.
   *
   * @throws SettingsException if there is no {@code =}, or the key is unknown
   */
  public SettingsLoader set(List<String> assignments) {
    for (String assignment : assignments) {
      int equals = assignment.indexOf('=');
      if (equals <= 0) {
        throw new SettingsException("--set " + assignment + " must have the form key=value");
      }
      put(assignment.substring(0, equals).strip(), assignment.substring(equals + 1), "--set");
    }
    return this;
  }

  /**
   * Checks everything.
   *
   * @throws SettingsException if a value is wrong
   */
  public Settings load() {
    return checked(new Configuration(configuration));
  }

  static Settings checked(Configuration configuration) {
    SPECS.forEach(spec -> spec.check(configuration));
    Settings settings = new Settings(configuration);
    SOURCES.forEach(source -> source.check(settings));
    return settings;
  }

  private void flatten(String prefix, JsonNode node, String source) {
    node.fields()
        .forEachRemaining(
            field -> {
              String key = prefix + field.getKey();
              JsonNode value = field.getValue();
              if (value.isObject()) {
                flatten(key + ".", value, source);
              } else if (value.isArray()) {
                List<String> items = new ArrayList<>();
                value.forEach(item -> items.add(item.asText()));
                put(key, String.join(";", items), source);
              } else if (!value.isNull()) {
                put(key, value.asText(), source);
              }
            });
  }

  private void put(String key, String value, String source) {
    boolean passed =
        key.startsWith(Settings.FLINK_PREFIX) || key.startsWith(Settings.KAFKA_CLIENT_PREFIX);
    if (!passed && !BY_KEY.containsKey(key)) {
      throw new SettingsException(source + ": the option " + key + " is unknown." + hint(key));
    }
    configuration.setString(key, value);
  }

  private static String hint(String key) {
    return NearestName.hint(key, BY_KEY.keySet());
  }
}
