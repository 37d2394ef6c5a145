/**
 * Makes prompts of conversations, with a model's tokenizer and chat template, on the engine's
 * intake threads, and the token ids that a reply has in later prompts.
 */
package io.radixflow.operators.prompt;
