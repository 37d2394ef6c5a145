/**
 * Turns over the topics, for all HTTP APIs alike: starts, resumes, queries and cancels them. {@link
 * io.radixflow.gateway.turn.Turns} is the seam; it knows neither HTTP nor Vert.x.
 */
package io.radixflow.gateway.turn;
