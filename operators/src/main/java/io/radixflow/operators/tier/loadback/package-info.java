/**
 * Pages on their way up, from the stores to host memory and to the device: the state machine {@link
 * io.radixflow.operators.tier.loadback.LoadBack}, drawn in its javadoc, and the measurements that
 * decide what is loaded and what is computed.
 */
package io.radixflow.operators.tier.loadback;
