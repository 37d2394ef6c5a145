package io.radixflow.operators.cache.compat;

/**
 * What a look-up found.
 *
 * @param slots of the matched units, in order
 * @param node ends where the match does; the root if nothing matched
 */
public record CompatMatch(int[] slots, CompatNode node) {}
