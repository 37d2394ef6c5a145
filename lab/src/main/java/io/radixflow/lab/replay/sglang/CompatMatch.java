package io.radixflow.lab.replay.sglang;

/**
 * The result of a look-up.
 *
 * @param slots of the matched units, in order
 * @param node ends where the match does; the root if nothing matched
 */
public record CompatMatch(int[] slots, CompatNode node) {}
