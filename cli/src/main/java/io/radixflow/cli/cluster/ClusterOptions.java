package io.radixflow.cli.cluster;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * How a cluster of processes is made.
 *
 * @param directory where configuration, logs and state go and stay; empty for a temporary one
 * @param jobManagers how many start; all but one stand by
 * @param taskManagers how many start
 * @param slots of each TaskManager
 * @param taskHeap heap of each TaskManager for the engine and the operators, such as {@code 1g}
 * @param fastStart whether TaskManagers start fast and never run fast, as a simulated model wants
 * @param brokerPort where the broker listens; 0 for any free port
 * @param settings Flink settings added to the cluster's own, or in their place
 */
public record ClusterOptions(
    Optional<Path> directory,
    int jobManagers,
    int taskManagers,
    int slots,
    String taskHeap,
    boolean fastStart,
    int brokerPort,
    Map<String, String> settings) {

  /** One JobManager and one TaskManager of two slots for a simulated model. */
  public static final ClusterOptions SMALL =
      new ClusterOptions(Optional.empty(), 1, 1, 2, "256m", true, 0, Map.of());

  public ClusterOptions {
    settings = Map.copyOf(settings);
    if (jobManagers < 1 || taskManagers < 0 || slots < 1) {
      throw new IllegalArgumentException(
          "a cluster needs a JobManager, and slots where it has TaskManagers");
    }
  }

  public ClusterOptions in(Path kept) {
    return new ClusterOptions(
        Optional.of(kept),
        jobManagers,
        taskManagers,
        slots,
        taskHeap,
        fastStart,
        brokerPort,
        settings);
  }

  /** Returns a copy whose TaskManagers have the memory for a real model. */
  public ClusterOptions computing(String heap) {
    return new ClusterOptions(
        directory, jobManagers, taskManagers, slots, heap, false, brokerPort, settings);
  }

  public ClusterOptions with(String key, String value) {
    Map<String, String> more = new HashMap<>(settings);
    more.put(key, value);
    return new ClusterOptions(
        directory, jobManagers, taskManagers, slots, taskHeap, fastStart, brokerPort, more);
  }
}
