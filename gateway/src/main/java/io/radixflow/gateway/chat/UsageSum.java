package io.radixflow.gateway.chat;

import io.radixflow.operators.record.Usage;

/** The counts of tokens of all choices; their prompt counts once. */
final class UsageSum {

  private Usage sum;

  void add(Usage usage) {
    sum =
        sum == null
            ? usage
            : new Usage(
                sum.promptTokens(),
                Math.max(sum.cachedTokens(), usage.cachedTokens()),
                sum.completionTokens() + usage.completionTokens(),
                sum.tiers().isNone() ? usage.tiers() : sum.tiers());
  }

  Usage total() {
    return sum == null ? Usage.NONE : sum;
  }
}
