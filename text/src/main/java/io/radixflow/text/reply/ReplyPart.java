package io.radixflow.text.reply;

/**
 * A piece of a reply.
 *
 * @param index counts the reply's calls from 0; -1 for content and reasoning
 * @param text never empty; the whole name of the function for {@link PartKind#TOOL_CALL}
 */
public record ReplyPart(PartKind kind, int index, String text) {}
