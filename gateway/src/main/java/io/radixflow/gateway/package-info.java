/**
 * The HTTP gateway. {@link io.radixflow.gateway.Gateway} starts it and has the list of its APIs.
 *
 * <p>An API is an {@link io.radixflow.gateway.http.EndpointGroup} in a package of its own; it adds
 * its routes, and has no thread and no state that outlives a request. An API works with:
 *
 * <ul>
 *   <li>{@link io.radixflow.gateway.http.Exchange}: the request, its body and its caller; answers,
 *       errors, and what to do when the client goes away. It belongs to one event loop, on which
 *       endpoints and listeners of turns run and must not block.
 *   <li>{@link io.radixflow.gateway.http.RequestFields}: which fields are supported, refused,
 *       ignored.
 *   <li>{@link io.radixflow.gateway.http.ApiException}: an error for the client; the route's {@link
 *       io.radixflow.gateway.http.ErrorFormat} writes it in the words of the API.
 *   <li>{@link io.radixflow.gateway.http.SseStream}: server-sent events with backpressure, kept
 *       alive at the interval of {@code gateway.keep-alive} in {@code GatewayConfig}.
 *   <li>{@link io.radixflow.gateway.turn.Turns}: starts, follows, resumes and cancels turns, and
 *       sends queries to the job.
 * </ul>
 */
package io.radixflow.gateway;
