package io.radixflow.lab.replay.sglang;

import static java.util.Comparator.comparingInt;
import static java.util.Comparator.comparingLong;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Locale;
import java.util.stream.Collectors;

/** The order in which leaves are evicted, as in SGLang's {@code evict_policy.py}. */
public enum CompatPolicy {
  LRU(byAccess()),
  /** Fewest insertions, then least recently accessed. */
  LFU(Comparator.<CompatUse>comparingInt(node -> node.hitCount).thenComparing(byAccess())),
  /** First created. */
  FIFO(byCreation()),
  /** Most recently accessed. */
  MRU(byAccess().reversed()),
  /** Last created. */
  FILO(byCreation().reversed()),
  /** Inserted only once, then least recently accessed. */
  SLRU(comparingInt(CompatPolicy::segment).thenComparing(byAccess())),
  /** Lowest priority, then least recently accessed. */
  PRIORITY(Comparator.<CompatUse>comparingInt(node -> node.priority).thenComparing(byAccess()));

  /** SLRU protects a node after this many insertions. */
  private static final int PROTECTED_HITS = 2;

  private final Comparator<CompatUse> order;

  CompatPolicy(Comparator<CompatUse> order) {
    this.order = order;
  }

  /**
   * Returns the policy with a name; ignores case.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static CompatPolicy named(String name) {
    for (CompatPolicy policy : values()) {
      if (policy.name().equalsIgnoreCase(name)) {
        return policy;
      }
    }
    String names =
        Arrays.stream(values())
            .map(policy -> policy.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    throw new IllegalArgumentException(
        "no eviction policy is called '" + name + "'; SGLang has " + names);
  }

  Comparator<CompatUse> order() {
    return order;
  }

  private static Comparator<CompatUse> byAccess() {
    return comparingLong(node -> node.accessedAt);
  }

  private static Comparator<CompatUse> byCreation() {
    return comparingLong(node -> node.createdAt);
  }

  private static int segment(CompatUse node) {
    return node.hitCount >= PROTECTED_HITS ? 1 : 0;
  }
}
