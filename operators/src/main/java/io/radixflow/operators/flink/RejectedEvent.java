package io.radixflow.operators.flink;

import io.radixflow.operators.PublicApi;
import io.radixflow.operators.record.ConversationEvent;

/**
 * An event that could not be served and has no turn id that a reply could name; a Flink POJO.
 *
 * @param reason for people
 */
@PublicApi
public record RejectedEvent(ConversationEvent event, String reason) {}
