package io.radixflow.operators.session;

import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.List;

/**
 * Everything that is needed to run a turn, taken from the state of its session when the turn
 * starts.
 *
 * @param conversation the conversation before the turn
 * @param parent the predecessor in the history
 * @param turn id of the turn in the history
 * @param messages its messages
 * @param given its own generation options, or null
 * @param regeneration how often its reply was made before
 * @param options the options of the turn
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
