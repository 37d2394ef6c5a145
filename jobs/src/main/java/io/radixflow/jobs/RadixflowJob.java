package io.radixflow.jobs;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsException;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.operators.api.ModelEngine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The entry point on a Flink cluster: {@code flink run radixflow-job.jar --config FILE}. */
public final class RadixflowJob {

  private static final String USAGE =
      "use --config FILE, --settings FILE and --set KEY=VALUE, each any number of times";

  private RadixflowJob() {}

  /**
   * Checks the settings and Kafka, then submits the job.
   *
   * @param arguments {@code --config FILE}; {@code --settings FILE}, which the environment does not
   *     override; {@code --set key=value}; the environment is also read
   */
  public static void main(String[] arguments) throws Exception {
    Settings settings = settings(arguments, System.getenv());
    KafkaSetup.check(settings);
    StreamExecutionEnvironment environment = ServingJob.environment(settings);
    ServingJob.build(
        environment,
        settings,
        JobEndpoints.kafka(settings),
        ServingSettings.engine(settings, ModelEngine::open));
    environment.execute();
  }

  static Settings settings(String[] arguments, Map<String, String> variables) {
    SettingsLoader loader = new SettingsLoader();
    List<Path> whole = new ArrayList<>();
    List<String> assignments = new ArrayList<>();
    for (Iterator<String> words = List.of(arguments).iterator(); words.hasNext(); ) {
      String word = words.next();
      if (!List.of("--config", "--settings", "--set").contains(word)) {
        throw new SettingsException("unknown argument " + word + ": " + USAGE);
      }
      if (!words.hasNext()) {
        throw new SettingsException(word + " needs a value: " + USAGE);
      }
      String value = words.next();
      switch (word) {
        case "--config" -> loader.file(Path.of(value));
        case "--settings" -> whole.add(Path.of(value));
        default -> assignments.add(value);
      }
    }
    loader.environment(variables);
    whole.forEach(loader::file);
    return loader.set(assignments).load();
  }
}
