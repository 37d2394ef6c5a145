package io.radixflow.engine;

import io.radixflow.protocol.PublicApi;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The order of a tenant's waiting requests of equal priority. */
@PublicApi
public enum SchedulePolicy {
  /** In order of arrival. */
  FCFS(false),
  /** The request with the longest cached prefix, whatever the number of waiting requests. */
  LPM(true),
  /** Depth first through the cached prefixes, where most requests wait first. */
  DFS_WEIGHT(true),
  /** The request with the highest limit on generated tokens. */
  LOF(false),
  /** In an order that a seed decides. */
  RANDOM(false),
  /** First the requests with the routing key that most running requests have. */
  ROUTING_KEY(false);

  private final boolean cacheAware;

  SchedulePolicy(boolean cacheAware) {
    this.cacheAware = cacheAware;
  }

  /** Returns the policy in effect: without a cache, cache-aware policies have no information. */
  public SchedulePolicy effective(boolean caching) {
    return cacheAware && !caching ? FCFS : this;
  }

  /**
   * Returns the policy of a name such as {@code lpm} or {@code dfs-weight}.
   *
   * @throws IllegalArgumentException if no policy has the name; the message lists the names
   */
  public static SchedulePolicy of(String name) {
    for (SchedulePolicy policy : values()) {
      if (policy.toString().equalsIgnoreCase(name)) {
        return policy;
      }
    }
    throw new IllegalArgumentException(
        "the schedule policy '"
            + name
            + "' is unknown; it must be one of "
            + Arrays.stream(values())
                .map(SchedulePolicy::toString)
                .collect(Collectors.joining(", ")));
  }

  /** Returns the name that configurations use. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
