/** Chat completions, completions, models and tokenizing, as OpenAI's API has them. */
package io.radixflow.gateway.chat;
