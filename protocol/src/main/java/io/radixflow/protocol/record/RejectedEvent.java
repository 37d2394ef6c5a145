package io.radixflow.protocol.record;

/**
 * A refused event without a turn id, which cannot get a reply; a Flink POJO.
 *
 * @param event the event as it was parsed
 * @param reason why the operator refuses it, for its sender
 */
public record RejectedEvent(ConversationEvent event, String reason) {}
