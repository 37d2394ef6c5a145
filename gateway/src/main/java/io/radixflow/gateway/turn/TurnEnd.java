package io.radixflow.gateway.turn;

import io.radixflow.operators.record.ReplyError;
import io.radixflow.operators.record.Usage;

/**
 * The end of a turn.
 *
 * @param branch the branch that the job chose
 * @param finishReason as in a reply: stop, length, cancelled, replaced, rejected, error
 * @param usage counts of tokens
 * @param error why the turn was rejected or failed; null if it was served
 * @param committed whether the reply is committed
 */
public record TurnEnd(
    String branch, String finishReason, Usage usage, ReplyError error, boolean committed) {}
