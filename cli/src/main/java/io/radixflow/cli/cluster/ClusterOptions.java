package io.radixflow.cli.cluster;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The options of a cluster of processes.
 *
 * @param directory where configuration, logs and state are kept; empty for a temporary directory
 * @param jobManagers number of JobManagers; one is the leader, the rest are standbys
 * @param taskManagers number of TaskManagers
 * @param slots slots per TaskManager
 * @param taskHeap heap of each TaskManager for the engine and the operators, such as {@code 1g}
 * @param fastStart whether the JVMs of TaskManagers trade speed for a fast start; right for a
 *     simulated model
 * @param brokerPort the broker's port; 0 for any free port
 * @param settings additional Flink settings; they override the cluster's own
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
          "a cluster needs at least one JobManager and at least one slot per TaskManager");
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
