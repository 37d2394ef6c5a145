/**
 * The stage that turns a reply's text into the parts of a message: content, reasoning and tool
 * calls. {@link io.radixflow.text.reply.ReplyFormat} chooses the formats from the model's chat
 * template. {@link io.radixflow.text.reply.ReplyParser} reads one reply as it arrives.
 */
package io.radixflow.text.reply;
