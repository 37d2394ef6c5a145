package io.radixflow.protocol.record;

/**
 * A refused event without a turn id that a reply could name; a Flink POJO.
 *
 * @param event the event as it was parsed
 * @param reason why the operator refuses it, for its sender
 */
public record RejectedEvent(ConversationEvent event, String reason) {}
