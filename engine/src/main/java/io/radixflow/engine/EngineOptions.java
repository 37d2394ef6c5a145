package io.radixflow.engine;

import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.protocol.PublicApi;
import java.io.Serializable;
import java.util.Objects;

/**
 * Sizes and bounds of an engine. Immutable; change one with a {@code with} method.
 *
 * @param kvPages pages of the KV pool; 0 to size it by {@code kvBytes}
 * @param kvBytes memory of the KV pool; 0 for four context windows, at most a quarter of the memory
 * @param pageTokens tokens per page; the nearest size that the backend supports is taken
 * @param contextLength tokens of prompt and reply of one request; 0 for the model's
 * @param stepRows rows of one step: a decoding request takes one, prefill chunks share the rest
 * @param prefillChunk most rows that one request's prefill takes in a step
 * @param maxRunning requests that hold pages at once; at most {@code stepRows}
 * @param maxWaiting requests that wait for their prompt or for pages; more are rejected
 * @param ringTokens tokens that a request may be ahead of its consumer, at least 4
 * @param cache how pages are cached and shared
 * @param intakeThreads threads that make prompts
 * @param attempts how often a request may fail a step, or end the process, on its own before it
 *     ends in error
 * @param auditMillis how often the owner of each page is checked, 0 after each step; the counters
 *     are checked after each step in any case
 * @param scheduler how waiting requests are chosen
 * @param tiers the tiers below the device
 * @param speculation guesses that steps verify ahead of replies
 */
@PublicApi
public record EngineOptions(
    int kvPages,
    long kvBytes,
    int pageTokens,
    int contextLength,
    int stepRows,
    int prefillChunk,
    int maxRunning,
    int maxWaiting,
    int ringTokens,
    CacheOptions cache,
    int intakeThreads,
    int attempts,
    long auditMillis,
    SchedulerOptions scheduler,
    TierOptions tiers,
    SpeculationOptions speculation)
    implements Serializable {

  /** Sizes for one machine and a small model. */
  public static final EngineOptions DEFAULT =
      new EngineOptions(
          0,
          0,
          16,
          0,
          256,
          256,
          64,
          1024,
          128,
          CacheOptions.DEFAULT,
          2,
          3,
          10_000,
          SchedulerOptions.DEFAULT,
          TierOptions.NONE,
          SpeculationOptions.DEFAULT);

  public EngineOptions {
    atLeast(kvPages, 0, "KV pages");
    atLeast(kvBytes, 0, "KV bytes");
    atLeast(pageTokens, 1, "tokens per page");
    atLeast(contextLength, 0, "context length");
    atLeast(stepRows, 1, "rows per step");
    atLeast(prefillChunk, 1, "prefill chunk");
    atLeast(maxRunning, 1, "running requests");
    atLeast(maxWaiting, 1, "waiting requests");
    atLeast(ringTokens, 4, "ring tokens");
    atLeast(intakeThreads, 1, "intake threads");
    atLeast(attempts, 1, "attempts");
    atLeast(auditMillis, 0, "audit interval");
    Objects.requireNonNull(scheduler, "scheduler");
    Objects.requireNonNull(speculation, "speculation");
    if (tiers.enabled() && cache.caching() != PrefixCaching.RADIX) {
      throw new IllegalArgumentException(
          "tiers keep pages that a radix cache evicted, but this cache is " + cache.caching());
    }
    if (maxRunning > stepRows) {
      throw new IllegalArgumentException(
          maxRunning + " running requests do not fit a step of " + stepRows + " rows");
    }
  }

  private static void atLeast(long value, long least, String name) {
    if (value < least) {
      throw new IllegalArgumentException(name + " is " + value + "; it must be at least " + least);
    }
  }

  /** Returns a builder that starts from these options. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Returns a builder that starts from {@link #DEFAULT}. */
  public static Builder builder() {
    return DEFAULT.toBuilder();
  }

  /** Sets options one by one; names and meanings are the record's. */
  public static final class Builder {
    private int kvPages;
    private long kvBytes;
    private int pageTokens;
    private int contextLength;
    private int stepRows;
    private int prefillChunk;
    private int maxRunning;
    private int maxWaiting;
    private int ringTokens;
    private CacheOptions cache;
    private int intakeThreads;
    private int attempts;
    private long auditMillis;
    private SchedulerOptions scheduler;
    private TierOptions tiers;
    private SpeculationOptions speculation;

    private Builder(EngineOptions from) {
      kvPages = from.kvPages;
      kvBytes = from.kvBytes;
      pageTokens = from.pageTokens;
      contextLength = from.contextLength;
      stepRows = from.stepRows;
      prefillChunk = from.prefillChunk;
      maxRunning = from.maxRunning;
      maxWaiting = from.maxWaiting;
      ringTokens = from.ringTokens;
      cache = from.cache;
      intakeThreads = from.intakeThreads;
      attempts = from.attempts;
      auditMillis = from.auditMillis;
      scheduler = from.scheduler;
      tiers = from.tiers;
      speculation = from.speculation;
    }

    public Builder kvPages(int value) {
      kvPages = value;
      return this;
    }

    public Builder kvBytes(long value) {
      kvBytes = value;
      return this;
    }

    public Builder pageTokens(int value) {
      pageTokens = value;
      return this;
    }

    public Builder contextLength(int value) {
      contextLength = value;
      return this;
    }

    public Builder stepRows(int value) {
      stepRows = value;
      return this;
    }

    public Builder prefillChunk(int value) {
      prefillChunk = value;
      return this;
    }

    public Builder maxRunning(int value) {
      maxRunning = value;
      return this;
    }

    public Builder maxWaiting(int value) {
      maxWaiting = value;
      return this;
    }

    public Builder ringTokens(int value) {
      ringTokens = value;
      return this;
    }

    public Builder cache(CacheOptions value) {
      cache = value;
      return this;
    }

    public Builder intakeThreads(int value) {
      intakeThreads = value;
      return this;
    }

    public Builder attempts(int value) {
      attempts = value;
      return this;
    }

    public Builder auditMillis(long value) {
      auditMillis = value;
      return this;
    }

    public Builder scheduler(SchedulerOptions value) {
      scheduler = value;
      return this;
    }

    public Builder tiers(TierOptions value) {
      tiers = value;
      return this;
    }

    public Builder speculation(SpeculationOptions value) {
      speculation = value;
      return this;
    }

    /**
     * @throws IllegalArgumentException if a value is out of its range
     */
    public EngineOptions build() {
      return new EngineOptions(
          kvPages,
          kvBytes,
          pageTokens,
          contextLength,
          stepRows,
          prefillChunk,
          maxRunning,
          maxWaiting,
          ringTokens,
          cache,
          intakeThreads,
          attempts,
          auditMillis,
          scheduler,
          tiers,
          speculation);
    }
  }
}
