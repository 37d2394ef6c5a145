package io.radixflow.operators.session;

import io.radixflow.operators.record.Usage;
import java.util.Map;

/**
 * What a finished turn keeps for those who ask about it, and no prompt needs; a Flink POJO.
 *
 * @param branch the branch on which it was answered
 * @param created when it was accepted, milliseconds since the epoch
 * @param usage its counts of tokens
 * @param metadata its sender's, or null
 */
public record TurnDetails(String branch, long created, Usage usage, Map<String, String> metadata) {}
