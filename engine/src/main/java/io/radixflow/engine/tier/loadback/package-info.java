/**
 * Pages on their way up, from the stores to host memory and to the device: the state machine {@link
 * io.radixflow.engine.tier.loadback.LoadBack}, drawn in its javadoc, and the measurements that
 * decide which pages are loaded and which are computed.
 */
package io.radixflow.engine.tier.loadback;
