package io.radixflow.engine;

import io.radixflow.engine.draft.DraftStats;
import io.radixflow.engine.tier.TierStats;

/**
 * A consistent snapshot of an engine: counters since the engine was opened, and current gauges.
 *
 * @param steps steps and their tokens
 * @param pool pages of the device
 * @param scheduler running and waiting requests
 * @param sessions the sessions that the cache knows
 * @param kvEvents delivered and dropped changes of the radix cache
 * @param tiers the tiers below the device
 * @param grammars the grammars that constrain replies
 * @param drafts guessed tokens that steps have verified
 */
public record EngineStats(
    StepStats steps,
    PoolStats pool,
    SchedulerStats scheduler,
    SessionStats sessions,
    KvEventStats kvEvents,
    TierStats tiers,
    GrammarStats grammars,
    DraftStats drafts) {}
