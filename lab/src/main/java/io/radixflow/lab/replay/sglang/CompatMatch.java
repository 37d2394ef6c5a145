package io.radixflow.lab.replay.sglang;

/**
 * The result of a look-up.
 *
 * @param slots slots of the matched units, in order
 * @param node the node at the end of the match; the root if nothing matched
 */
public record CompatMatch(int[] slots, CompatNode node) {}
