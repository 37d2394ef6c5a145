package io.radixflow.jobs.config;

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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.flink.configuration.CheckpointingOptions;
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

  /** Time for a checkpoint and the commit of its replies. */
  private static final Duration COMMIT_TIME = Duration.ofMinutes(1);

  private static final Map<String, OptionSpec<?>> BY_KEY =
      RadixflowOptions.specs().stream()
          .collect(Collectors.toMap(OptionSpec::key, spec -> spec, (a, b) -> a, TreeMap::new));
  private static final Map<String, OptionSpec<?>> BY_SUFFIX =
      RadixflowOptions.specs().stream()
          .collect(Collectors.toMap(OptionSpec::suffix, spec -> spec, (a, b) -> a, TreeMap::new));

  private final Configuration configuration = new Configuration();

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
    RadixflowOptions.specs().forEach(spec -> spec.check(configuration));
    Settings settings = new Settings(configuration);
    if (settings.get(RadixflowOptions.ENGINE_MAX_RUNNING)
        > settings.get(RadixflowOptions.STEP_ROWS)) {
      throw new SettingsException("engine.max-running must be at most engine.step-rows");
    }
    if (settings.get(RadixflowOptions.PARALLELISM)
        > settings.get(RadixflowOptions.MAX_PARALLELISM)) {
      throw new SettingsException("job.parallelism must be at most job.max-parallelism");
    }
    DiskTierConfig.check(settings);
    checkTransactionTimeout(settings);
    checkAlignment(settings);
    return settings;
  }

  /**
   * Refuses unaligned checkpoints. A reply in flight in such a checkpoint would be restored, and
   * would also be written again as a lost reply.
   */
  private static void checkAlignment(Settings settings) {
    if (settings.flink().get(CheckpointingOptions.ENABLE_UNALIGNED)) {
      throw new SettingsException(
          "flink.%s may double replies after a restore: leave it out"
              .formatted(CheckpointingOptions.ENABLE_UNALIGNED.key()));
    }
  }

  /**
   * Refuses a transaction timeout that is too short. If the broker aborts a transaction before its
   * checkpoint is complete, the job fails.
   */
  private static void checkTransactionTimeout(Settings settings) {
    Duration interval =
        settings
            .flink()
            .getOptional(CheckpointingOptions.CHECKPOINTING_INTERVAL)
            .orElse(settings.get(RadixflowOptions.CHECKPOINT_INTERVAL));
    Duration timeout = settings.get(RadixflowOptions.TRANSACTION_TIMEOUT);
    if (interval.plus(COMMIT_TIME).compareTo(timeout) > 0) {
      throw new SettingsException(
          ("job.checkpoint-interval is %d ms, with %d ms for the checkpoint and its commit more"
                  + " than kafka.transaction-timeout, %d ms, after which the broker aborts replies:"
                  + " lower the one or raise the other")
              .formatted(interval.toMillis(), COMMIT_TIME.toMillis(), timeout.toMillis()));
    }
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
