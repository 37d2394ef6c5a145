package io.radixflow.operators.session;

import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;

/**
 * Details of a finished turn that are kept for queries and that no prompt needs; a Flink POJO.
 *
 * @param branch the branch on which it was answered
 * @param created when it was accepted, milliseconds since the epoch
 * @param completed when it ended, milliseconds since the epoch
 * @param stopReason the stop text that ended its reply, or null
 * @param usage the token counts
 * @param metadata the metadata of its sender, or null
 * @param order runs of the reply's parts as they were written; empty if reasoning came first, then
 *     content, then calls
 * @param prefill the beginning of the reply that its sender wrote, which is part of it; null for
 *     none
 */
public record TurnDetails(
    String branch,
    long created,
    long completed,
    String stopReason,
    Usage usage,
    Map<String, String> metadata,
    List<PartLength> order,
    Message prefill) {}
