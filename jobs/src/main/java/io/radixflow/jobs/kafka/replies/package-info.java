/**
 * Replies on Kafka, exactly once: the sink, and the search for replies whose transaction the
 * brokers aborted or forgot. {@link io.radixflow.jobs.kafka.replies.ReplyTopic} is the entry.
 */
package io.radixflow.jobs.kafka.replies;
