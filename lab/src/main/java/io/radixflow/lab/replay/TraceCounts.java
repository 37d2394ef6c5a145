package io.radixflow.lab.replay;

/**
 * The content of a cache after an operation, in units.
 *
 * @param nodes of its tree, without the root
 * @param evictableLeaves nodes that could be evicted at once
 */
public record TraceCounts(
    int evictable, int protectedUnits, int total, int nodes, int evictableLeaves) {}
