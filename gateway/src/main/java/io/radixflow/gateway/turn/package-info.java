/**
 * Turns over the topics, for all HTTP APIs: starts, resumes, queries and cancels turns. {@link
 * io.radixflow.gateway.turn.Turns} is the seam; it does not depend on HTTP or Vert.x.
 */
package io.radixflow.gateway.turn;
