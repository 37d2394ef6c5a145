/**
 * OpenAI's responses and conversations: requests to events, turns to response objects, and streams
 * whose sequence numbers are a function of the reply's text, so that any gateway can go on with a
 * stream that another one began.
 */
package io.radixflow.gateway.responses;
