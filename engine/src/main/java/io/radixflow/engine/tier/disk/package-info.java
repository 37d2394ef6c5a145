/**
 * The disk tier: a {@link io.radixflow.engine.tier.store.PageStore} in a folder of the TaskManager,
 * which outlives the process.
 */
package io.radixflow.engine.tier.disk;
