package io.radixflow.engine.cache.policy;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.protocol.PublicApi;
import java.util.List;
import java.util.Locale;

/** The eviction policies by their names in the configuration. */
@PublicApi
public final class EvictionPolicies {
  /** The number of uses from which SLRU protects a page. */
  static final int SLRU_THRESHOLD = 2;

  private static final List<String> NAMES =
      List.of("lru", "lfu", "fifo", "mru", "filo", "slru", "priority", "lfu-ghost", "adaptive");

  /** The policy of an engine for which none is configured. */
  public static final String DEFAULT = "adaptive";

  private EvictionPolicies() {}

  /** Returns whether there is a policy of this name. */
  public static boolean isKnown(String name) {
    return NAMES.contains(name.toLowerCase(Locale.ROOT));
  }

  /**
   * @throws IllegalArgumentException if no policy has this name
   */
  public static void checkName(String name) {
    if (!isKnown(name)) {
      throw new IllegalArgumentException(
          "no eviction policy is called '" + name + "'; there are " + String.join(", ", NAMES));
    }
  }

  public static List<String> names() {
    return NAMES;
  }

  /**
   * Returns a new policy.
   *
   * @param name one of {@link #names()}, in any case
   * @param poolPages number of pages in the policy's pool
   * @param protectedShare part of the pool that SLRU's protected segment may take; 1 as in SGLang
   * @throws IllegalArgumentException if no policy has this name
   */
  public static EvictionPolicy of(String name, int poolPages, double protectedShare) {
    checkName(name);
    String known = name.toLowerCase(Locale.ROOT);
    return switch (known) {
      case "lru" -> new LruPolicy();
      case "lfu" -> new LeafOrderPolicy(known, TreeNode::uses, TreeNode::lastUsedAt);
      case "fifo" -> new LeafOrderPolicy(known, TreeNode::createdAt, TreeNode::lastUsedAt);
      case "mru" -> new LeafOrderPolicy(known, node -> -node.lastUsedAt(), node -> 0);
      case "filo" ->
          new LeafOrderPolicy(known, node -> -node.createdAt(), node -> -node.lastUsedAt());
      case "priority" ->
          new LeafOrderPolicy(known, TreeNode::effectivePriority, TreeNode::lastUsedAt);
      case "slru" -> new SlruPolicy(SLRU_THRESHOLD, Math.round(poolPages * protectedShare));
      case "lfu-ghost" -> new LfuGhostPolicy(poolPages);
      case "adaptive" -> new AdaptivePolicy(poolPages);
      default -> throw new IllegalStateException("policy '" + known + "' is listed but not made");
    };
  }
}
