package io.radixflow.lab.replay;

/**
 * The content of a cache after an operation, in units.
 *
 * @param nodes of its tree, without the root
 * @param evictableLeaves nodes that could be evicted immediately
 */
public record TraceCounts(
    int evictable, int protectedUnits, int total, int nodes, int evictableLeaves) {}
