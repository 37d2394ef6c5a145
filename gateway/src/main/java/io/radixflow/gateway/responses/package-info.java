/**
 * OpenAI's responses and conversations: converts requests to events and turns to response objects.
 * The sequence numbers of streams depend only on the reply's text, so any gateway can continue a
 * stream that another gateway began.
 */
package io.radixflow.gateway.responses;
