package io.radixflow.lab.bench.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ThreadGroupNameTest {
  @ParameterizedTest
  @CsvSource({
    "serving (1/1)#0, OPERATOR",
    "radixflow-engine, ENGINE",
    "radixflow-sim, ENGINE",
    "radixflow-intake-1, INTAKE",
    "Source Data Fetcher for Source: events -> route events (1/1)#0, FETCHER",
    "Source: events -> route events (1/1)#0, SOURCES",
    "deltas: Writer -> deltas: Committer (1/1)#0, SINKS",
    "kafka-producer-network-thread | producer-1, PRODUCERS",
    "kafka-producer-network-thread | producer-radixflow-0-1, PRODUCERS",
    "kafka-producer-network-thread | event-sender-1, CLIENT",
    "follow-reply-deltas, CLIENT",
    "main, CLIENT",
    "data-plane-kafka-request-handler-0, BROKER",
    "kafka-1-raft-io-thread, BROKER",
    "ExpirationReaper-1-Fetch, BROKER",
    "AsyncOperations-thread-1, FLINK",
    "flink-pekko.actor.default-dispatcher-5, FLINK",
    "Reference Handler, OTHER"
  })
  void aThreadCountsForWhatItsNameSays(String thread, ThreadGroupName group) {
    assertThat(ThreadGroupName.of(thread)).isEqualTo(group);
  }
}
