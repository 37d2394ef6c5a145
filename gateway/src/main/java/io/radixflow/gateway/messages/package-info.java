/** Anthropic's messages API: requests, responses, server-sent events and errors. */
package io.radixflow.gateway.messages;
