package io.radixflow.jobs.kafka.replies;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.connector.sink2.Committer;
import org.apache.flink.connector.kafka.sink.KafkaCommittable;
import org.apache.kafka.common.errors.InvalidPidMappingException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A committer that continues if the brokers do not know a transaction. Flink's own committer would
 * fail the job at every restore. Brokers forget a transaction some days after its end ({@code
 * transactional.id.expiration.ms}), never while it is open; other brokers never knew it. {@link
 * ReplyTopic} finds the replies of the transaction, as it does for an aborted transaction.
 */
record UnknownTransactionsCommitter(Committer<KafkaCommittable> kafka)
    implements Committer<KafkaCommittable> {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownTransactionsCommitter.class);

  @Override
  public void commit(Collection<CommitRequest<KafkaCommittable>> requests)
      throws IOException, InterruptedException {
    List<CommitRequest<KafkaCommittable>> all = new ArrayList<>();
    requests.forEach(request -> all.add(new Request(request)));
    kafka.commit(all);
  }

  @Override
  public void close() throws Exception {
    kafka.close();
  }

  private record Request(CommitRequest<KafkaCommittable> request)
      implements CommitRequest<KafkaCommittable> {

    @Override
    public void signalFailedWithUnknownReason(Throwable failure) {
      if (failure instanceof InvalidPidMappingException) {
        LOG.warn(
            "The brokers do not know the transaction {} of the restored state: it ended long ago,"
                + " or with other brokers",
            request.getCommittable().getTransactionalId());
        request.signalFailedWithKnownReason(failure);
      } else {
        request.signalFailedWithUnknownReason(failure);
      }
    }

    @Override
    public void signalFailedWithKnownReason(Throwable failure) {
      request.signalFailedWithKnownReason(failure);
    }

    @Override
    public KafkaCommittable getCommittable() {
      return request.getCommittable();
    }

    @Override
    public int getNumberOfRetries() {
      return request.getNumberOfRetries();
    }

    @Override
    public void retryLater() {
      request.retryLater();
    }

    @Override
    public void updateAndRetryLater(KafkaCommittable committable) {
      request.updateAndRetryLater(committable);
    }

    @Override
    public void signalAlreadyCommitted() {
      request.signalAlreadyCommitted();
    }
  }
}
