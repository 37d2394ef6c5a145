/**
 * A request inside the engine, its tenant, its session, and the channel and ring through which its
 * consumer reads the reply. The javadoc of {@link io.radixflow.engine.request.Request} says which
 * thread owns each part.
 */
package io.radixflow.engine.request;
