package io.radixflow.jobs.kafka;

/** Kafka is not as the job needs it; the message says what to do, in one line. */
public final class KafkaSetupException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public KafkaSetupException(String message, Throwable cause) {
    super(message, cause);
  }
}
