package io.radixflow.client.kafka;

import java.time.Duration;

/** Kafka does not meet the needs of the job. The message says in one line what to do. */
public final class KafkaSetupException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public KafkaSetupException(String message, Throwable cause) {
    super(message, cause);
  }

  /** Returns the exception for a client that gets no answer from a broker. */
  public static KafkaSetupException noBroker(String brokers, Duration waited, Throwable cause) {
    return new KafkaSetupException(
        "no Kafka broker answers at %s within %d ms: start one, or set kafka.bootstrap-servers"
            .formatted(brokers, waited.toMillis()),
        cause);
  }
}
