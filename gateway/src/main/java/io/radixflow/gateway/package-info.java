/**
 * The HTTP gateway. {@link io.radixflow.gateway.Gateway} starts it and has the list of its APIs.
 *
 * <p>Each API is an {@link io.radixflow.gateway.http.EndpointGroup} in its own package. It adds its
 * routes, and has no thread and no state that outlives a request. An API uses:
 *
 * <ul>
 *   <li>{@link io.radixflow.gateway.http.Exchange}: the request, its body and its caller, its
 *       answer or error, and actions for a client that goes away. It belongs to one event loop.
 *       Endpoints and listeners of turns run on this event loop and must not block.
 *   <li>{@link io.radixflow.gateway.api.RequestFields}: which fields are supported, refused or
 *       ignored.
 *   <li>{@link io.radixflow.gateway.http.ApiException}: an error for the client; the route's {@link
 *       io.radixflow.gateway.http.ErrorFormat} writes it in the words of the API.
 *   <li>{@link io.radixflow.gateway.http.SseStream}: server-sent events with backpressure and
 *       keep-alive comments.
 *   <li>{@link io.radixflow.gateway.turn.Turns}: starts, follows, resumes and cancels turns, and
 *       sends queries to the job.
 * </ul>
 */
package io.radixflow.gateway;
