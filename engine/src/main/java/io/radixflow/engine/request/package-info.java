/**
 * A request inside the engine and what it belongs to: its tenant, its session, the channel and the
 * ring through which its consumer reads the reply. The fields of {@link
 * io.radixflow.engine.request.Request} say which thread owns them.
 */
package io.radixflow.engine.request;
