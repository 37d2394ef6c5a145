/**
 * Turns over the topics, for all HTTP APIs: starts, resumes, queries and cancels turns. {@link
 * io.radixflow.gateway.turn.Turns} is the seam; it knows neither HTTP nor Vert.x.
 */
package io.radixflow.gateway.turn;
