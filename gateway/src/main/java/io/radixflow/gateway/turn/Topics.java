package io.radixflow.gateway.turn;

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
     * Takes a record of the delta topic.
     *
     * @param session the record's key, or null
     */
    void delta(byte[] session, byte[] value);

    /**
     * Takes a committed record of the reply topic.
     *
     * @param session the record's key, or null
     */
    void reply(byte[] session, byte[] value);

    /** Records may have been missed. From now on records are read again. */
    void interrupted();
  }

  /** Starts to read; called once, before anything is sent. */
  void follow(Reader reader);

  /**
   * Sends an event; never blocks.
   *
   * @return completed when the brokers have it; exceptionally if they do not take it
   */
  CompletableFuture<Void> send(ConversationEvent event);

  /**
   * Returns null if events can be sent, all partitions of both topics are read and replies are
   * committed; else a text that names the problem.
   */
  String problem();

  /** Stops reading and sending; returns when no thread is left. */
  @Override
  void close();
}
