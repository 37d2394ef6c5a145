/**
 * HTTP without any API: routes, bodies within limits, errors, callers, JSON and server-sent events.
 */
package io.radixflow.gateway.http;
