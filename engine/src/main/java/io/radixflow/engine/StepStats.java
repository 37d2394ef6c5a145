package io.radixflow.engine;

/**
 * The steps that an engine has run, and their tokens; counters since it was opened.
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
