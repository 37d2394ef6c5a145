package io.radixflow.lab.bench.job;

import java.util.regex.Pattern;

/** What a thread of the local stack works for, by its name. */
enum ThreadGroupName {
  OPERATOR("operator, mailbox", "serving.*\\(\\d+/\\d+\\)#\\d+"),
  ENGINE("engine and simulated device", "radixflow-(engine|sim|cpu.*)"),
  INTAKE("intake, tiers", "radixflow-.*|disk-tier|remote-tier.*"),
  FETCHER("Flink's Kafka consumers", "Source Data Fetcher.*"),
  SOURCES("source tasks", "Source: .*\\(\\d+/\\d+\\)#\\d+"),
  SINKS("sink tasks", ".*(Writer|Committer).*\\(\\d+/\\d+\\)#\\d+"),
  PRODUCERS("Kafka producers", "kafka-producer-network-thread.*"),
  CLIENT("the client's consumers", "follow-.*|main"),
  BROKER("broker", "data-plane-kafka.*|kafka-.*|.*(raft|ReplicaManager|quorum|controller).*"),
  FLINK("Flink's other threads", "flink-.*|OutputFlusher.*|jobmanager.*|Checkpoint.*|.*netty.*"),
  OTHER("other Java threads", ".*"),
  JVM("JVM: compilers, collectors, RocksDB", null);

  private final String title;
  private final Pattern names;

  ThreadGroupName(String title, String names) {
    this.title = title;
    this.names = names == null ? null : Pattern.compile(names, Pattern.CASE_INSENSITIVE);
  }

  String title() {
    return title;
  }

  /** Returns the first group whose pattern matches all of a thread's name. */
  static ThreadGroupName of(String thread) {
    for (ThreadGroupName group : values()) {
      if (group.names != null && group.names.matcher(thread).matches()) {
        return group;
      }
    }
    return OTHER;
  }
}
