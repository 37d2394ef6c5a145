package io.radixflow.gateway.chat;

import io.radixflow.protocol.record.TierUsage;
import io.radixflow.protocol.record.Usage;
import java.util.HashMap;
import java.util.Map;

/** The counts of tokens of all choices; a prompt of several choices counts once. */
final class UsageSum {

  private final int choicesOfPrompt;
  private final Map<Integer, Usage> prompts = new HashMap<>();

  /**
   * @param choicesOfPrompt how many consecutive choices have the same prompt
   */
  UsageSum(int choicesOfPrompt) {
    this.choicesOfPrompt = choicesOfPrompt;
  }

  void add(int choice, Usage usage) {
    prompts.merge(choice / choicesOfPrompt, usage, UsageSum::ofOnePrompt);
  }

  private static Usage ofOnePrompt(Usage first, Usage next) {
    return new Usage(
        first.promptTokens(),
        Math.max(first.cachedTokens(), next.cachedTokens()),
        first.completionTokens() + next.completionTokens(),
        first.tiers().isNone() ? next.tiers() : first.tiers(),
        first.reasoningTokens() + next.reasoningTokens(),
        first.acceptedPredictionTokens() + next.acceptedPredictionTokens(),
        first.rejectedPredictionTokens() + next.rejectedPredictionTokens());
  }

  private static Usage plus(Usage a, Usage b) {
    return new Usage(
        a.promptTokens() + b.promptTokens(),
        a.cachedTokens() + b.cachedTokens(),
        a.completionTokens() + b.completionTokens(),
        new TierUsage(
            a.tiers().hostTokens() + b.tiers().hostTokens(),
            a.tiers().diskTokens() + b.tiers().diskTokens(),
            a.tiers().remoteTokens() + b.tiers().remoteTokens(),
            a.tiers().micros() + b.tiers().micros()),
        a.reasoningTokens() + b.reasoningTokens(),
        a.acceptedPredictionTokens() + b.acceptedPredictionTokens(),
        a.rejectedPredictionTokens() + b.rejectedPredictionTokens());
  }

  Usage total() {
    return prompts.values().stream().reduce(Usage.NONE, UsageSum::plus);
  }
}
