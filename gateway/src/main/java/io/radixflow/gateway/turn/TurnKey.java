package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.ConversationEvent;

/**
 * Identifies a turn.
 *
 * @param tenant the tenant that may see the turn; empty for the default tenant
 */
public record TurnKey(String tenant, String session, String turn) {
  static TurnKey of(ConversationEvent event) {
    return new TurnKey(event.tenant(), event.session(), event.turn());
  }
}
