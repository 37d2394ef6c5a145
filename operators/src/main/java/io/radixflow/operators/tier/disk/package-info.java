/**
 * The disk tier: a {@link io.radixflow.operators.tier.store.PageStore} in a folder of the
 * TaskManager, which outlives the process.
 */
package io.radixflow.operators.tier.disk;
