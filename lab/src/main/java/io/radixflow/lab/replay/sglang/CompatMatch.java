package io.radixflow.lab.replay.sglang;

/**
 * What a look-up found.
 *
 * @param slots of the matched units, in order
 * @param node ends where the match does; the root if nothing matched
 */
public record CompatMatch(int[] slots, CompatNode node) {}
