/**
 * Makes the prompts of conversations with a model's tokenizer and chat template, on the engine's
 * intake threads, and computes the token ids of replies in later prompts.
 */
package io.radixflow.operators.prompt;
