package io.radixflow.lab.bench.job;

import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;

/** Groups of the local stack's threads by purpose, recognised by the threads' names. */
enum ThreadGroupName {
  OPERATOR("operator, mailbox", "serving.*\\(\\d+/\\d+\\)#\\d+"),
  ENGINE("engine and simulated device", "radixflow-(engine|sim|cpu.*)"),
  INTAKE("intake, tiers", "radixflow-.*|disk-tier|remote-tier.*"),
  FETCHER("Flink's Kafka consumers", "Source Data Fetcher.*"),
  SOURCES("source tasks", "Source: .*\\(\\d+/\\d+\\)#\\d+"),
  SINKS("sink tasks", ".*(Writer|Committer).*\\(\\d+/\\d+\\)#\\d+"),
  PRODUCERS(
      "Kafka producers of the sinks", "kafka-producer-network-thread \\| (?!event-sender-).*"),
  FLINK(
      "Flink's other threads",
      "flink-.*|OutputFlusher.*|jobmanager.*|Checkpoint.*|AsyncOperations.*|.*netty.*"),
  CLIENT("client", "follow-.*|main|kafka-producer-network-thread \\| event-sender-.*"),
  BROKER(
      "broker",
      "data-plane-kafka.*|kafka-.*|.*(raft|ReplicaManager|quorum|controller|SenderThread).*"
          + "|(group|transaction|share)-coordinator.*|ExpirationReaper.*|executor-.*|metrics-meter.*"),
  OTHER("other Java threads", null),
  JVM("JVM: compilers, collectors, RocksDB", null);

  /** The groups of threads that a job has even if its brokers and clients run elsewhere. */
  static final Set<ThreadGroupName> JOB = EnumSet.range(OPERATOR, FLINK);

  private final String title;
  private final Pattern names;

  ThreadGroupName(String title, String names) {
    this.title = title;
    this.names = names == null ? null : Pattern.compile(names, Pattern.CASE_INSENSITIVE);
  }

  String title() {
    return title;
  }

  /** Returns the first group whose pattern matches a thread's whole name. */
  static ThreadGroupName of(String thread) {
    for (ThreadGroupName group : values()) {
      if (group.names != null && group.names.matcher(thread).matches()) {
        return group;
      }
    }
    return OTHER;
  }
}
