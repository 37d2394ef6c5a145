/** Messages as Anthropic's API has them: requests, responses, server-sent events and errors. */
package io.radixflow.gateway.messages;
