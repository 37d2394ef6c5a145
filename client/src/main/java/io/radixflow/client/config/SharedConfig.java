package io.radixflow.client.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.protocol.fair.Shares;
import io.radixflow.protocol.record.Overflow;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.configuration.ConfigOption;

/** The options of the job that its clients also read. */
public final class SharedConfig {

  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<String> MODEL =
      ALL.text("model", "SmolLM2-135M-Instruct")
          .describe(
              "A GGUF file, a Hugging Face directory, a hub name, or 'sim' for a simulated model.");

  public static final ConfigOption<Integer> CONTEXT_LENGTH =
      ALL.integer("engine.context-length", 0, 0, Integer.MAX_VALUE)
          .describe("Maximum tokens of prompt and reply together; 0 for the model's own limit.");

  public static final ConfigOption<Overflow> OVERFLOW =
      ALL.choice("session.overflow", Overflow.DROP_OLDEST)
          .describe("What happens to a conversation that outgrows the context window.");

  public static final ConfigOption<Boolean> INDEX =
      ALL.flag("session.index", false)
          .describe(
              "Whether the job publishes a record for each session, with the beginning of its first"
                  + " text, on kafka.topic.index, and the gateway lists conversations.");

  public static final ConfigOption<Map<String, String>> TENANT_WEIGHTS =
      ALL.add(
              key("scheduler.tenant-weights").mapType().noDefaultValue(),
              "tenants and weights from 1 to " + Shares.MAX_WEIGHT + ", such as a:3,b:2",
              SharedConfig::areWeights)
          .describe(
              "Shares of the engine, and of the threads that make prompts or serve requests, while"
                  + " tenants compete; tenants that are not named have weight 1.");

  public static final ConfigOption<Duration> CHECKPOINT_INTERVAL =
      ALL.duration(
              "job.checkpoint-interval",
              Duration.ofSeconds(1),
              Duration.ofMillis(10),
              "a duration of at least 10 ms, such as 200ms or 10s")
          .describe("Time between checkpoints: a finished reply waits this long to be committed.");

  private SharedConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /** Returns whether a conversation that is too long loses its oldest turns. */
  public static boolean dropsOldest(Settings settings) {
    return settings.get(OVERFLOW) == Overflow.DROP_OLDEST;
  }

  /** Returns the weights of tenants whose weight is not 1. */
  public static Map<String, Integer> tenantWeights(Settings settings) {
    Map<String, Integer> weights = new TreeMap<>();
    if (settings.isGiven(TENANT_WEIGHTS)) {
      settings
          .get(TENANT_WEIGHTS)
          .forEach((tenant, weight) -> weights.put(tenant, Integer.valueOf(weight)));
    }
    return weights;
  }

  private static boolean areWeights(Map<String, String> weights) {
    return weights.values().stream().allMatch(SharedConfig::isWeight);
  }

  private static boolean isWeight(String text) {
    return text.matches("[1-9][0-9]{0,3}") && Integer.parseInt(text) <= Shares.MAX_WEIGHT;
  }
}
