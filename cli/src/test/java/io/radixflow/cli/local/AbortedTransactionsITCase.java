package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.TopicContents;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.JobEndpoints;
import io.radixflow.jobs.ServingJob;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.jobs.kafka.replies.ReplyTopic;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.FileUtils;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.TransactionListing;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A savepoint has a reply whose transaction was not committed by the job that took it: Flink
 * commits nothing with a savepoint unless the job stops. There are no checkpoints, the first of
 * which would come after the least pause. No reply counts as young, as if every restore came after
 * {@code kafka.transaction-timeout}.
 */
@Timeout(600)
class AbortedTransactionsITCase {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String SESSION = "s";

  @TempDir Path dir;

  private LocalBroker broker;
  private LocalCluster cluster;
  private Settings settings;

  @BeforeEach
  void start() throws IOException {
    broker = LocalBroker.start(dir);
    cluster = LocalCluster.start(dir, 1, 0);
    settings =
        new SettingsLoader()
            .set(
                List.of(
                    "kafka.create-topics=true",
                    "kafka.connect-timeout=60s",
                    "job.checkpoint-interval=10min",
                    "flink.execution.checkpointing.min-pause=10min"))
            .load()
            .with(KafkaConfig.BOOTSTRAP_SERVERS, broker.bootstrapServers());
    KafkaSetup.check(settings);
  }

  @AfterEach
  void stop() throws IOException {
    cluster.close();
    broker.close();
  }

  @Test
  void aReplyWhoseTransactionWasAbortedIsWrittenAgain() throws Exception {
    JobID job = submit(null);
    String text = ask("t");
    String savepoint = savepoint(job);
    Reply first = written().get(0);
    assertThat(first.text()).isEqualTo(text);
    assertThat(committed()).isEmpty();
    cluster.cancel(job);
    abortTransactions();
    drain(submit(savepoint));
    assertThat(committed()).singleElement().usingRecursiveComparison().isEqualTo(first);
  }

  @Test
  void aReplyThatIsWrittenAgainAndAbortedAgainIsStillNotLost() throws Exception {
    String savepoint = savepointOfACancelledJob();
    abortTransactions();
    JobID failed = submit(copy(savepoint));
    await().atMost(PATIENCE).until(() -> written().size() == 2);
    cluster.cancel(failed);
    drain(submit(savepoint));
    assertThat(written()).hasSize(3);
    assertThat(committed()).extracting(Reply::turn).containsExactly("t");
  }

  @Test
  void aReplyWhoseTransactionTheRestoreCommitsIsNotWrittenAgain() throws Exception {
    String savepoint = savepointOfACancelledJob();
    drain(submit(savepoint));
    assertThat(written()).extracting(Reply::turn).containsExactly("t");
    assertThat(committed()).extracting(Reply::turn).containsExactly("t");
  }

  @Test
  void aReplyThatTheJobCommittedAfterTheSavepointIsNotWrittenAgain() throws Exception {
    JobID job = submit(null);
    ask("t");
    String savepoint = savepoint(job);
    drain(job);
    assertThat(committed()).extracting(Reply::turn).containsExactly("t");
    abortTransactions();
    drain(submit(savepoint));
    assertThat(written()).extracting(Reply::turn).containsExactly("t");
  }

  @Test
  void aSavepointGoesOnWithBrokersThatDoNotKnowItsTransactions() throws Exception {
    String savepoint = savepointOfACancelledJob();
    broker.close();
    broker = LocalBroker.start(dir.resolve("others"));
    settings = settings.with(KafkaConfig.BOOTSTRAP_SERVERS, broker.bootstrapServers());
    KafkaSetup.check(settings);
    try (ConversationClient client = new ConversationClient(settings)) {
      for (int i = 0; i < 40; i++) {
        client
            .send(settings.get(KafkaConfig.EVENTS_TOPIC), new byte[] {(byte) i}, new byte[] {'x'})
            .join();
      }
    }
    drain(submit(savepoint));
    assertThat(written()).isEmpty();
  }

  /** Doubts each reply, however young it is. */
  private record NeverInTime(LostReplies found) implements LostReplies {
    @Override
    public long commitMillis() {
      return 0;
    }

    @Override
    public Search search(Set<Id> wanted, long since) {
      return found.search(wanted, since);
    }
  }

  private JobID submit(String savepoint) throws IOException {
    StreamExecutionEnvironment environment = ServingJob.environment(settings);
    JobEndpoints kafka = JobEndpoints.kafka(settings);
    JobEndpoints endpoints =
        new JobEndpoints(
            kafka.events(),
            kafka.control(),
            kafka.sinks(),
            new NeverInTime(new ReplyTopic(settings)),
            kafka.kvEvents());
    ServingJob.build(
        environment,
        settings,
        endpoints,
        ServingSettings.engine(settings, name -> SimModel.open(SimOptions.DEFAULT)));
    JobID job = cluster.submit(environment, Optional.ofNullable(savepoint), false);
    cluster.awaitRunning(job, PATIENCE);
    return job;
  }

  /** The text of a reply that is emitted, as far as its deltas show, and not committed. */
  private String ask(String turn) throws Exception {
    StringBuilder text = new StringBuilder();
    CompletableFuture<ReplyDelta> last = new CompletableFuture<>();
    try (ConversationClient client = new ConversationClient(settings)) {
      client.ask(
          Events.message(SESSION, turn, "Is anybody there?", 8),
          new ReplyListener() {
            @Override
            public void text(String piece) {
              text.append(piece);
            }

            @Override
            public void finished(ReplyDelta delta) {
              last.complete(delta);
            }
          });
      last.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    return text.toString();
  }

  /** A savepoint with a reply whose transaction it has not committed; the job is gone. */
  private String savepointOfACancelledJob() throws Exception {
    JobID job = submit(null);
    ask("t");
    String savepoint = savepoint(job);
    cluster.cancel(job);
    return savepoint;
  }

  private String savepoint(JobID job) throws Exception {
    return cluster
        .miniCluster()
        .triggerSavepoint(
            job, dir.resolve("kept").toUri().toString(), false, SavepointFormatType.CANONICAL)
        .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** For a job that may delete it. */
  private String copy(String savepoint) throws IOException {
    String copied = dir.resolve("copy").toUri().toString();
    FileUtils.copy(
        new org.apache.flink.core.fs.Path(savepoint),
        new org.apache.flink.core.fs.Path(copied),
        false);
    return copied;
  }

  /** Stops the job after it has found the lost replies and committed all replies. */
  private void drain(JobID job) throws Exception {
    cluster
        .miniCluster()
        .stopWithSavepoint(
            job, dir.resolve("stopped").toUri().toString(), true, SavepointFormatType.CANONICAL)
        .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    cluster.miniCluster().requestJobResult(job).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Aborts transactions as the broker does after their timeout: it fences their producers too. */
  private void abortTransactions() throws Exception {
    try (Admin admin = Admin.create(settings.kafkaClient())) {
      Set<String> all =
          admin.listTransactions().all().get(PATIENCE.toSeconds(), TimeUnit.SECONDS).stream()
              .map(TransactionListing::transactionalId)
              .collect(Collectors.toSet());
      admin.fenceProducers(all).all().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  admin
                      .listTransactions(
                          new ListTransactionsOptions()
                              .filterStates(
                                  Set.of(TransactionState.ONGOING, TransactionState.PREPARE_ABORT)))
                      .all()
                      .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                      .isEmpty());
    }
  }

  private List<Reply> committed() throws IOException {
    List<Reply> replies = new ArrayList<>();
    TopicContents.read(
        settings,
        settings.get(KafkaConfig.REPLIES_TOPIC),
        record -> replies.add(RecordReader.reply(record.value())));
    return replies;
  }

  /** Returns all replies in the topic, even replies of open and aborted transactions. */
  private List<Reply> written() throws IOException {
    List<Reply> replies = new ArrayList<>();
    Properties properties = settings.kafkaClient();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(settings.get(KafkaConfig.REPLIES_TOPIC)).stream()
              .map(info -> new TopicPartition(info.topic(), info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      var ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
          replies.add(RecordReader.reply(record.value()));
        }
      }
    }
    return replies;
  }
}
