/**
 * The prefix cache: a radix tree over token ids whose nodes own pages of the KV pool, the allocator
 * of those pages, and the page tables of running requests.
 *
 * <p>Nothing here is locked: one thread, the engine's, owns it all.
 */
package io.radixflow.operators.cache;
