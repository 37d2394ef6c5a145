package io.radixflow.engine;

/**
 * Counters of the steps that an engine has run since it was opened, and of their tokens.
 *
 * @param steps steps run
 * @param failedSteps steps that failed
 * @param prefilledTokens prompt tokens computed
 * @param cachedTokens prompt tokens found in the radix cache
 * @param generatedTokens tokens sampled
 */
public record StepStats(
    long steps, long failedSteps, long prefilledTokens, long cachedTokens, long generatedTokens) {
  /** An engine that has run no step. */
  public static final StepStats NONE = new StepStats(0, 0, 0, 0, 0);
}
