/**
 * The HTTP layer that all APIs share: routes, bodies within limits, errors, callers, JSON and
 * server-sent events.
 */
package io.radixflow.gateway.http;
