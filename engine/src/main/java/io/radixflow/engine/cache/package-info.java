/**
 * The prefix cache: a radix tree over token ids whose nodes own pages of the KV pool, and the
 * allocator of those pages. Package {@code key} contains the keys and names of pages, {@code
 * policy} the order of eviction, and {@code session} the pages that sessions keep between turns.
 *
 * <p>The classes have no locks: only the engine's thread uses them.
 */
package io.radixflow.engine.cache;
