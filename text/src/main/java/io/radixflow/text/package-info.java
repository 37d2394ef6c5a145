/**
 * Text for a model and from a model. {@code TextModel} has the tokenizer and the chat template.
 * {@code ReplyText} turns the tokens of a reply into text and finds stop strings.
 */
package io.radixflow.text;
