/**
 * Text for a model and from a model. {@code TextModel} has the tokenizer and the chat template.
 * {@code ReplyText} turns the tokens of a reply into text and finds stop strings. {@code SimText}
 * is the text side of the simulated model.
 */
package io.radixflow.text;
