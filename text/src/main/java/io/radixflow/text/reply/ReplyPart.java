package io.radixflow.text.reply;

/**
 * A piece of a reply.
 *
 * @param index number of the call in the reply, from 0; -1 for content and reasoning
 * @param text the text, never empty; for {@link PartKind#TOOL_CALL} the whole name of the function
 */
public record ReplyPart(PartKind kind, int index, String text) {}
