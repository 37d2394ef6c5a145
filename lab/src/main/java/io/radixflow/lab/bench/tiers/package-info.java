/**
 * The commands {@code bench tiers} and {@code bench disk}: how fast pages of the cache come from
 * each tier.
 */
package io.radixflow.lab.bench.tiers;
