package io.radixflow.operators.session;

import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Message;
import java.util.List;

/**
 * All that is needed to run a turn, decided from the state of its session when it starts.
 *
 * @param conversation the conversation before it
 * @param parent number of the turn that it follows in the history
 * @param turn id that the turn has in the history
 * @param messages its messages
 * @param given its own generation options, or null
 * @param regeneration how often its reply was made before
 * @param options the options it runs with
 * @param prefill the message of the assistant that its reply continues; null for none
 */
public record TurnPlan(
    Conversation conversation,
    TurnParent parent,
    String turn,
    List<Message> messages,
    GenerationOptions given,
    int regeneration,
    TurnOptions options,
    Message prefill) {}
