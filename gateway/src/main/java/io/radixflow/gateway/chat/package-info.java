/** OpenAI's API: chat completions, completions, and tokenizing. */
package io.radixflow.gateway.chat;
