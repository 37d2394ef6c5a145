/**
 * The KV pages of requests: page tables, the radix cache over the pool, hints, and the seam to the
 * tiers below the device. Engine thread only, unless stated otherwise.
 */
package io.radixflow.engine.pages;
