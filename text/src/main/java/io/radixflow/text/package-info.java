/**
 * Text in and out of a model: {@code TextModel} has its tokenizer and chat template, {@code
 * ReplyText} turns the tokens of a reply into text and finds stop strings.
 */
package io.radixflow.text;
