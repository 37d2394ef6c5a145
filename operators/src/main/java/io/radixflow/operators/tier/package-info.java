/**
 * The tiers below the device's KV pool: host memory, a local disk, a remote file system.
 *
 * <p>A page below the device is named by what it holds and all that precedes it ({@link
 * io.radixflow.operators.tier.page.PageId}), within one numerics epoch. A page that is missing, damaged
 * or not the one that was asked for is a miss, counted by reason; it is never an error and never a
 * wrong token.
 */
package io.radixflow.operators.tier;
