/**
 * The interface of the tiers below host memory, {@link io.radixflow.engine.tier.store.PageStore},
 * and what its implementations share: how a page is encoded, checked and encrypted.
 */
package io.radixflow.engine.tier.store;
