/**
 * Prompts beyond what a chat template writes: raw prompts, replies that a prompt begins, and
 * templates that do not know calls or reasoning. {@code PromptText} makes whole prompts.
 */
package io.radixflow.text.prompt;
