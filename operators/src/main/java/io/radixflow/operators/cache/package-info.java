/**
 * The prefix cache: a radix tree over token ids whose nodes own pages of the KV pool, and the
 * allocator of those pages. {@code key} has what pages are found and named by, {@code policy} the
 * order of eviction, {@code session} what sessions keep between turns.
 *
 * <p>Nothing here is locked: one thread, the engine's, owns it all.
 */
package io.radixflow.operators.cache;
