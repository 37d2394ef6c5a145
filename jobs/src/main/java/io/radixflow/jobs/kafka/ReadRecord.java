package io.radixflow.jobs.kafka;

import io.radixflow.protocol.topic.DeadLetter;

/** The result of reading one record of a topic: an event, a dead letter, or both. */
public interface ReadRecord<E> {
  E event();

  DeadLetter deadLetter();
}
