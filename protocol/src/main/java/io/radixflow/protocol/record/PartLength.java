package io.radixflow.protocol.record;

/**
 * A run of a reply's text that belongs to one part; a Flink POJO. The runs of a reply give the
 * order in which its content, reasoning and calls were written.
 *
 * @param kind the part that it belongs to; null for content
 * @param index for a call, its number in the reply from 0; else -1
 * @param length length in code points
 */
public record PartLength(ReplyDelta.Kind kind, int index, int length) {}
