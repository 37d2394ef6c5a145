package io.radixflow.client.config;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;

/**
 * Checked values of all options; immutable. {@link SettingsLoader} makes them, and they travel in
 * the job graph.
 */
public final class Settings implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Options with this prefix are passed to Flink, without the prefix. */
  public static final String FLINK_PREFIX = "flink.";

  /** Options with this prefix are passed to every Kafka client, without the prefix. */
  public static final String KAFKA_CLIENT_PREFIX = "kafka.client.";

  private static final String MASK = "******";

  private final Configuration configuration;

  Settings(Configuration configuration) {
    this.configuration = configuration;
  }

  /** Returns the option's value, or its default if no value was given. */
  public <T> T get(ConfigOption<T> option) {
    return configuration.get(option);
  }

  /** Returns whether a value was given. */
  public boolean isGiven(ConfigOption<?> option) {
    return configuration.contains(option);
  }

  /** Returns these settings with one changed option. */
  public <T> Settings with(ConfigOption<T> option, T value) {
    Configuration changed = new Configuration(configuration);
    changed.set(option, value);
    return SettingsLoader.checked(changed);
  }

  /** Returns the given options of Flink, without their prefix. */
  public Configuration flink() {
    return Configuration.fromMap(prefixed(FLINK_PREFIX));
  }

  /** Returns new properties for a Kafka client: the given options and the brokers. */
  public Properties kafkaClient() {
    Properties properties = new Properties();
    properties.putAll(prefixed(KAFKA_CLIENT_PREFIX));
    properties.put("bootstrap.servers", get(KafkaConfig.BOOTSTRAP_SERVERS));
    return properties;
  }

  /**
   * Returns the given settings as arguments {@code --set key=value}, for another process to load.
   */
  public List<String> toArguments() {
    List<String> arguments = new ArrayList<>();
    for (Map.Entry<String, String> entry : new TreeMap<>(configuration.toMap()).entrySet()) {
      arguments.add("--set");
      arguments.add(entry.getKey() + "=" + entry.getValue());
    }
    return arguments;
  }

  /**
   * Writes the given settings to a new file that only its owner can read, for {@link
   * SettingsLoader#file}. A file keeps them secret, whereas all users of a machine can see the
   * arguments of its processes.
   *
   * @return the file, which the caller deletes
   */
  public Path write(Path directory) throws IOException {
    Path file =
        Files.createTempFile(
            directory,
            "settings-",
            ".yaml",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    return Files.write(
        file, new YAMLMapper().writeValueAsBytes(new TreeMap<>(configuration.toMap())));
  }

  /** Returns all given options, for Flink's page and for logs. Secrets are masked. */
  public SortedMap<String, String> shown() {
    SortedMap<String, String> shown = new TreeMap<>();
    configuration
        .toMap()
        .forEach((key, value) -> shown.put(key, isSecret(key) ? MASK : withoutUser(value)));
    return shown;
  }

  private static boolean isSecret(String key) {
    boolean passedOn = key.startsWith(FLINK_PREFIX) || key.startsWith(KAFKA_CLIENT_PREFIX);
    return passedOn
        ? GlobalConfiguration.isSensitive(key) || key.contains("keystore.key")
        : SettingsLoader.isSecret(key);
  }

  /** Returns a value without the user and password that a URI may contain. */
  private static String withoutUser(String value) {
    return value.replaceAll("://[^/@\\s]*@", "://" + MASK + "@");
  }

  private Map<String, String> prefixed(String prefix) {
    Map<String, String> found = new TreeMap<>();
    configuration
        .toMap()
        .forEach(
            (key, value) -> {
              if (key.startsWith(prefix)) {
                found.put(key.substring(prefix.length()), value);
              }
            });
    return found;
  }
}
