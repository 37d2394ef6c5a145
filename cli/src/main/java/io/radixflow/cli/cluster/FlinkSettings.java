package io.radixflow.cli.cluster;

import io.radixflow.cli.flink.LoopbackFlink;
import io.radixflow.cli.flink.Ports;
import io.radixflow.cli.flink.WebAccess;
import io.radixflow.jobs.config.LocalFiles;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessSpec;
import org.apache.flink.runtime.clusterframework.TaskExecutorProcessUtils;
import org.apache.flink.runtime.jobmanager.JobManagerProcessSpec;
import org.apache.flink.runtime.jobmanager.JobManagerProcessUtils;
import org.apache.flink.runtime.util.config.memory.ProcessMemoryUtils;

/**
 * Flink's configuration of a cluster on loopback: high availability over ZooKeeper, failures
 * detected within seconds, subtasks spread over TaskManagers, little memory.
 */
final class FlinkSettings {

  private final Map<String, String> settings = new HashMap<>();

  /**
   * @param root absolute path of the installation
   * @param zooKeeperPort port of ZooKeeper on loopback
   */
  FlinkSettings(Path root, int zooKeeperPort, ClusterOptions options) {
    settings.putAll(LoopbackFlink.settings(WebAccess.LOCAL_PROGRAMS, "0"));
    put("jobmanager.memory.heap.size", "256m");
    put("taskmanager.numberOfTaskSlots", Integer.toString(options.slots()));
    put("taskmanager.memory.task.heap.size", options.taskHeap());
    put("taskmanager.memory.managed.size", 96 * options.slots() + "m");
    put("taskmanager.memory.network.min", "32m");
    put("taskmanager.memory.network.max", "32m");
    put("taskmanager.load-balance.mode", "SLOTS");
    put("high-availability.type", "zookeeper");
    put("high-availability.zookeeper.quorum", Ports.LOOPBACK + ":" + zooKeeperPort);
    put("high-availability.zookeeper.client.session-timeout", "8s");
    put("high-availability.storageDir", uri(root, "high-availability"));
    put("high-availability.cluster-id", "/radixflow");
    put("heartbeat.interval", "1000");
    put("heartbeat.timeout", "8000");
    // a killed process refuses the first heartbeat; until Flink gives it up, restarts on it fail
    put("heartbeat.rpc-failure-threshold", "1");
    // a subtask returns to its slot after a restart, and so its sessions find their pages
    put("execution.state-recovery.from-local", "true");
    put("execution.checkpointing.local-backup.enabled", "true");
    put("metrics.fetcher.update-interval", "1000");
    put("process.taskmanager.working-dir", root.resolve("taskmanagers").toString());
    put("io.tmp.dirs", root.resolve("tmp").toString());
    put("web.tmpdir", root.resolve("tmp").toString());
    put("execution.checkpointing.dir", uri(root, "checkpoints"));
    put("execution.checkpointing.savepoint-dir", uri(root, "savepoints"));
    settings.putAll(options.settings());
  }

  private void put(String key, String value) {
    settings.put(key, value);
  }

  private static String uri(Path root, String directory) {
    return LocalFiles.name(root.resolve(directory));
  }

  Map<String, String> all() {
    return Map.copyOf(settings);
  }

  /** The JVM flags of a process, computed like in Flink's own scripts. */
  record Memory(List<String> jvmFlags, List<String> arguments) {
    private static Memory of(String flags, String arguments) {
      return new Memory(words(flags), words(arguments));
    }

    private static List<String> words(String text) {
      return text.isBlank() ? List.of() : List.of(text.strip().split("\\s+"));
    }
  }

  Memory jobManager() {
    Configuration flink = Configuration.fromMap(settings);
    JobManagerProcessSpec spec = JobManagerProcessUtils.processSpecFromConfig(flink);
    return Memory.of(
        JobManagerProcessUtils.generateJvmParametersStr(spec, flink),
        JobManagerProcessUtils.generateDynamicConfigsStr(spec));
  }

  Memory taskManager() {
    Configuration flink = Configuration.fromMap(settings);
    TaskExecutorProcessSpec spec = TaskExecutorProcessUtils.processSpecFromConfig(flink);
    return Memory.of(
        ProcessMemoryUtils.generateJvmParametersStr(spec)
            + " "
            + flink.get(CoreOptions.FLINK_TM_JVM_OPTIONS),
        TaskExecutorProcessUtils.generateDynamicConfigsStr(spec));
  }
}
