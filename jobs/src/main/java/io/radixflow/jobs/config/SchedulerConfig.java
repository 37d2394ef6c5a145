package io.radixflow.jobs.config;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.radixflow.client.config.OptionGroup;
import io.radixflow.client.config.OptionSpec;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.SchedulePolicy;
import io.radixflow.engine.SchedulerOptions;
import io.radixflow.protocol.record.ServiceClass;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;

/** The options of the engine's scheduler. */
public final class SchedulerConfig {

  private static final SchedulerOptions DEFAULT = SchedulerOptions.DEFAULT;
  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<SchedulePolicy> POLICY =
      ALL.choice("scheduler.policy", DEFAULT.policy())
          .describe(
              "Order of a tenant's waiting requests that have equal priority and whose sessions had"
                  + " equally many turns: by arrival, longest cached prefix, most shared cached"
                  + " prefix, highest max_tokens, at random, or together with requests of the same"
                  + " session.");

  public static final ConfigOption<Integer> SEED =
      ALL.integer("scheduler.seed", 0, 0, Integer.MAX_VALUE).describe("Seed of policy 'random'.");

  public static final ConfigOption<Integer> AGEING =
      ALL.integer("scheduler.ageing", DEFAULT.ageing(), 2, 1_000_000)
          .describe(
              "One of this many admissions of a tenant goes to its oldest request, regardless of"
                  + " priority and policy, so that no request starves.");

  public static final ConfigOption<Boolean> LOW_PRIORITY_FIRST =
      ALL.flag("scheduler.low-priority-first", DEFAULT.lowPriorityFirst())
          .describe("Whether lower values of 'priority' go first.");

  public static final ConfigOption<Integer> PREEMPTION_THRESHOLD =
      ALL.integer(
              "scheduler.preemption-threshold",
              DEFAULT.preemptionThreshold(),
              0,
              ServiceClass.MAX_PRIORITY - ServiceClass.MIN_PRIORITY)
          .describe(
              "A request that lacks a slot or pages preempts running requests of its tenant whose"
                  + " priority is worse by more than this value; the highest value turns preemption"
                  + " off.");

  public static final ConfigOption<Double> STEP_STRETCH =
      factor("scheduler.step-stretch", DEFAULT.sharing().stretch())
          .describe(
              "Limit of the time of a step that includes prompts, as a multiple of the time of a"
                  + " step with only the running replies. A lower value keeps"
                  + " replies more even, a higher value brings first tokens sooner; 0 sets no"
                  + " limit. Steps of 5 ms are always allowed.");

  public static final ConfigOption<Double> PROMPT_SLOWDOWN =
      factor("scheduler.prompt-slowdown", DEFAULT.sharing().slowdown())
          .describe(
              "Limit of the time of a prompt next to running replies, as a multiple of its time"
                  + " without them. If both limits cannot be met, this limit"
                  + " comes before 'scheduler.step-stretch'. 0 sets no limit.");

  private SchedulerConfig() {}

  private static OptionGroup.Draft<Double> factor(String name, double byDefault) {
    return ALL.add(
        key(name).doubleType().defaultValue(byDefault),
        "0, or a number from 1.1 to 1000",
        factor -> factor == 0 || factor >= 1.1 && factor <= 1000);
  }

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  public static SchedulerOptions scheduler(Settings settings) {
    return new SchedulerOptions(
        settings.get(POLICY),
        settings.get(SEED),
        settings.get(AGEING),
        settings.get(LOW_PRIORITY_FIRST),
        settings.get(PREEMPTION_THRESHOLD),
        new SchedulerOptions.Sharing(settings.get(STEP_STRETCH), settings.get(PROMPT_SLOWDOWN)),
        SharedConfig.tenantWeights(settings));
  }
}
