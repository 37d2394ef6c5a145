package io.radixflow.operators.engine;

/**
 * Token counts of a reply.
 *
 * @param promptTokens tokens of the prompt
 * @param cachedTokens of those, tokens whose KV entries came from the radix cache at first
 *     admission
 * @param completionTokens generated tokens, end token included
 */
public record Usage(int promptTokens, int cachedTokens, int completionTokens) {
  public static final Usage NONE = new Usage(0, 0, 0);
}
