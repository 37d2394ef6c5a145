package io.radixflow.protocol.record;

/**
 * A run of a reply's text that belongs to one part; a Flink POJO. The runs of a reply, one after
 * the other, say in which order its content, reasoning and calls were written.
 *
 * @param kind what part it belongs to; null for content
 * @param index of a call: counts the reply's calls from 0; else -1
 * @param length in code points
 */
public record PartLength(ReplyDelta.Kind kind, int index, int length) {}
