package io.radixflow.gateway.chat;

import io.radixflow.gateway.turn.TurnEnd;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Adds the token counts of all choices; a prompt of several choices counts once. */
final class UsageSum {

  private UsageSum() {}

  /**
   * Returns the counts of all choices.
   *
   * @param choicesOfPrompt how many consecutive choices have the same prompt
   */
  static Usage of(List<TurnEnd> ends, int choicesOfPrompt) {
    Map<Integer, Usage> prompts = new HashMap<>();
    for (int i = 0; i < ends.size(); i++) {
      prompts.merge(i / choicesOfPrompt, ends.get(i).usage(), UsageSum::ofOnePrompt);
    }
    return prompts.values().stream().reduce(Usage.NONE, UsageSum::plus);
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
}
