package io.radixflow.engine;

import io.radixflow.protocol.PublicApi;
import io.radixflow.protocol.fair.Shares;
import java.io.Serializable;
import java.util.Map;

/**
 * How the scheduler chooses waiting requests. Tenants share the engine by weight. Within a tenant,
 * priority decides first, then the policy, then the order of arrival.
 *
 * @param policy the order of requests with the same tenant and priority
 * @param seed seed of the random policy
 * @param ageing every {@code ageing}-th admission of a tenant is its oldest request, regardless of
 *     priority and policy; at least 2
 * @param lowPriorityFirst whether lower priority values go first
 * @param preemptionThreshold a waiting request preempts a running request of its tenant if their
 *     priorities differ by more than this
 * @param sharing limits for steps that prompts share with decodes
 * @param tenantWeights shares of tenants; a tenant that is not named has weight 1
 */
@PublicApi
public record SchedulerOptions(
    SchedulePolicy policy,
    long seed,
    int ageing,
    boolean lowPriorityFirst,
    int preemptionThreshold,
    Sharing sharing,
    Map<String, Integer> tenantWeights)
    implements Serializable {
  public static final int MAX_WEIGHT = Shares.MAX_WEIGHT;

  /** Requests with the longest cached prefix first; every sixteenth admission by age. */
  public static final SchedulerOptions DEFAULT =
      new SchedulerOptions(SchedulePolicy.LPM, 0, 16, false, 10, new Sharing(2.6, 1.6), Map.of());

  /**
   * How prompts share steps with decodes.
   *
   * @param stretch limit on the time of a step with decodes and prompts, as a multiple of its time
   *     with the decodes only; more than 1, or 0 for no limit
   * @param slowdown limit on the time of a prompt that shares its steps with decodes, as a multiple
   *     of its time without them; more than 1, or 0 for no limit. If both limits cannot be met,
   *     this limit is met
   */
  public record Sharing(double stretch, double slowdown) implements Serializable {
    public Sharing {
      check(stretch, "the stretch of a step");
      check(slowdown, "the slowdown of a prompt");
    }

    private static void check(double factor, String name) {
      if (factor != 0 && !(factor > 1)) {
        throw new IllegalArgumentException(
            name + " is " + factor + "; it must be 0 or more than 1");
      }
    }
  }

  public SchedulerOptions {
    tenantWeights = Map.copyOf(tenantWeights);
    if (ageing < 2) {
      throw new IllegalArgumentException("ageing is " + ageing + "; it must be at least 2");
    }
    if (preemptionThreshold < 0) {
      throw new IllegalArgumentException(
          "the preemption threshold is " + preemptionThreshold + "; it must be at least 0");
    }
    tenantWeights.forEach(SchedulerOptions::checkWeight);
  }

  private static void checkWeight(String tenant, int weight) {
    if (weight < 1 || weight > MAX_WEIGHT) {
      throw new IllegalArgumentException(
          "the weight of tenant '" + tenant + "' is " + weight + "; it must be 1 to " + MAX_WEIGHT);
    }
  }

  /** Returns these options with another policy. */
  public SchedulerOptions withPolicy(SchedulePolicy other) {
    return new SchedulerOptions(
        other, seed, ageing, lowPriorityFirst, preemptionThreshold, sharing, tenantWeights);
  }

  /** Returns these options with another seed. */
  public SchedulerOptions withSeed(long other) {
    return new SchedulerOptions(
        policy, other, ageing, lowPriorityFirst, preemptionThreshold, sharing, tenantWeights);
  }

  /** Returns these options with another rate of admissions by age. */
  public SchedulerOptions withAgeing(int other) {
    return new SchedulerOptions(
        policy, seed, other, lowPriorityFirst, preemptionThreshold, sharing, tenantWeights);
  }

  /** Returns these options with other rules for priorities. */
  public SchedulerOptions withPriorities(boolean lowFirst, int threshold) {
    return new SchedulerOptions(policy, seed, ageing, lowFirst, threshold, sharing, tenantWeights);
  }

  /** Returns these options with other limits for steps that prompts share with decodes. */
  public SchedulerOptions withSharing(double stretch, double slowdown) {
    return new SchedulerOptions(
        policy,
        seed,
        ageing,
        lowPriorityFirst,
        preemptionThreshold,
        new Sharing(stretch, slowdown),
        tenantWeights);
  }

  /** Returns these options with other weights. */
  public SchedulerOptions withWeights(Map<String, Integer> weights) {
    return new SchedulerOptions(
        policy, seed, ageing, lowPriorityFirst, preemptionThreshold, sharing, weights);
  }
}
