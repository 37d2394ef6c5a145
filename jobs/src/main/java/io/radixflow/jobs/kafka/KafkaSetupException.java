package io.radixflow.jobs.kafka;

import java.time.Duration;

/** Kafka is not as the job needs it; the message says what to do, in one line. */
public final class KafkaSetupException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public KafkaSetupException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The exception of a client that no broker answers. */
  public static KafkaSetupException noBroker(String brokers, Duration waited, Throwable cause) {
    return new KafkaSetupException(
        "no Kafka broker answers at %s within %d ms: start one, or set kafka.bootstrap-servers"
            .formatted(brokers, waited.toMillis()),
        cause);
  }
}
