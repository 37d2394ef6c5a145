package io.radixflow.operators.flink.recovery;

import io.radixflow.protocol.record.Reply;

/**
 * A reply that was emitted and whose commit is not known yet; a Flink POJO.
 *
 * @param emitted when it was last emitted, milliseconds since the epoch
 * @param reply the reply as it was emitted; without its text if its session was erased later
 */
public record EmittedReply(long emitted, Reply reply) {}
