/**
 * The commands {@code bench tiers} and {@code bench disk}: where pages of the cache come from, and
 * how fast.
 */
package io.radixflow.lab.bench.tiers;
