/**
 * Fairness among tenants, with one algorithm for requests of the engine and for tasks on shared
 * threads.
 */
package io.radixflow.protocol.fair;
