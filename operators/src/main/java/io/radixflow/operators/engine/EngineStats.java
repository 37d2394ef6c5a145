package io.radixflow.operators.engine;

import io.radixflow.operators.tier.TierStats;

/**
 * Counters since the engine opened, and gauges of the moment.
 *
 * @param steps steps run
 * @param prefilledTokens prompt tokens computed
 * @param cachedTokens prompt tokens found in the radix cache
 * @param generatedTokens tokens sampled
 * @param retractions requests put back for want of pages, or for more urgent ones
 * @param evictedPages pages evicted from the radix cache
 * @param failedSteps steps that failed
 * @param repairs times that page accounting was found wrong and was repaired
 * @param runningRequests requests with pages
 * @param waitingRequests requests without
 * @param freePages pages on the free list
 * @param evictablePages pages cached and unlocked
 * @param protectedPages pages cached and locked by running requests
 * @param inFlightPages pages of running requests that are not in the cache
 * @param totalPages pages of the pool
 * @param kvEvents what became of the changes of the radix cache
 * @param sessions what is kept of sessions
 * @param scheduler departures from the policy's order
 * @param tiers what is below the device
 */
public record EngineStats(
    long steps,
    long prefilledTokens,
    long cachedTokens,
    long generatedTokens,
    long retractions,
    long evictedPages,
    long failedSteps,
    long repairs,
    int runningRequests,
    int waitingRequests,
    int freePages,
    int evictablePages,
    int protectedPages,
    int inFlightPages,
    int totalPages,
    KvEventStats kvEvents,
    SessionStats sessions,
    SchedulerStats scheduler,
    TierStats tiers) {}
