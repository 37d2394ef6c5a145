/** Chat completions, completions and models, as OpenAI's API has them. */
package io.radixflow.gateway.chat;
