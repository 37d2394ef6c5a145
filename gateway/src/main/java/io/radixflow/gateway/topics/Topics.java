package io.radixflow.gateway.topics;

import io.radixflow.protocol.record.ConversationEvent;
import java.util.concurrent.CompletableFuture;

/** The topics of the job as a gateway uses them: in Kafka, or in a test. */
public interface Topics extends AutoCloseable {

  /**
   * Receives the records of the job. The threads of the topics call it, one thread at a time per
   * topic.
   */
  interface Reader {
    /**
     * Called with a record of the delta topic.
     *
     * @param session the record's key, or null
     */
    void delta(byte[] session, byte[] value);

    /**
     * Called with a committed record of the reply topic.
     *
     * @param session the record's key, or null
     */
    void reply(byte[] session, byte[] value);

    /** Called when records may have been missed. From now on records are read again. */
    void interrupted();
  }

  /** Receives the records of the conversation index, on one thread of the topics at a time. */
  interface IndexReader {
    /** Called before the first record. From now on all records are read, the oldest first. */
    void begin();

    /**
     * Called with a committed record.
     *
     * @param value null for a tombstone
     */
    void entry(byte[] key, byte[] value);
  }

  /** Starts reading; called once, before anything is sent. */
  void follow(Reader reader);

  /** Starts reading the conversation index; called once at most. */
  void followIndex(IndexReader reader);

  /**
   * Sends an event; never blocks.
   *
   * @return completes when the brokers have the event; exceptionally if they do not accept it
   */
  CompletableFuture<Void> send(ConversationEvent event);

  /**
   * Returns null if events can be sent, all partitions of the followed topics are read and replies
   * are committed; else a text with the problem.
   */
  String problem();

  /** Stops reading and sending; returns when all threads have ended. */
  @Override
  void close();
}
