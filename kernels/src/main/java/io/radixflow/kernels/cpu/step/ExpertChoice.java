package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.FeedForward.Scoring;

/**
 * Chooses the experts of one row at a time, in float32. Of equal scores the lower index wins, so
 * the choice depends only on the row's logits. Each worker has its own instance.
 */
final class ExpertChoice {

  private final Kernels kernels;
  private final float[] scores;
  private final float[] ranks;
  private final float[] groupRanks;

  ExpertChoice(Kernels kernels, int experts) {
    this.kernels = kernels;
    scores = new float[experts];
    ranks = new float[experts];
    groupRanks = new float[experts];
  }

  /**
   * Writes the chosen experts, best first, and their weights.
   *
   * @param chosen how many experts to choose
   * @param logits one logit per expert, from {@code at} on
   * @param correction added to the scores, only for the choice; or null
   * @param ids receives the experts from {@code to} on
   * @param weights receives their weights from {@code to} on
   */
  void choose(
      Router router,
      int experts,
      int chosen,
      Floats logits,
      int at,
      Floats correction,
      int[] ids,
      float[] weights,
      int to) {
    score(router.scoring(), experts, logits, at);
    for (int i = 0; i < experts; i++) {
      ranks[i] = correction == null ? scores[i] : scores[i] + correction.get(i);
    }
    if (router.chosenGroups() < router.groups()) {
      dropGroups(router, experts);
    }
    float sum = 0;
    for (int i = 0; i < chosen; i++) {
      int best = best(ranks, experts);
      ranks[best] = Float.NEGATIVE_INFINITY;
      ids[to + i] = best;
      weights[to + i] = scores[best];
      sum += scores[best];
    }
    for (int i = 0; i < chosen; i++) {
      float weight = weights[to + i];
      weights[to + i] = (router.normalised() ? weight / sum : weight) * router.scale();
    }
  }

  private void score(Scoring scoring, int experts, Floats logits, int at) {
    if (scoring == Scoring.SIGMOID) {
      for (int i = 0; i < experts; i++) {
        scores[i] = 1f / (kernels.exp(-logits.get(at + i)) + 1f);
      }
      return;
    }
    float max = logits.get(at);
    for (int i = 1; i < experts; i++) {
      max = Math.max(max, logits.get(at + i));
    }
    float sum = 0;
    for (int i = 0; i < experts; i++) {
      scores[i] = kernels.exp(logits.get(at + i) - max);
      sum += scores[i];
    }
    for (int i = 0; i < experts; i++) {
      scores[i] /= sum;
    }
  }

  private void dropGroups(Router router, int experts) {
    int size = experts / router.groups();
    for (int group = 0; group < router.groups(); group++) {
      groupRanks[group] = groupRank(router, group * size, size);
    }
    for (int i = 0; i < router.chosenGroups(); i++) {
      groupRanks[best(groupRanks, router.groups())] = Float.NaN;
    }
    for (int i = 0; i < experts; i++) {
      if (!Float.isNaN(groupRanks[i / size])) {
        ranks[i] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  /** The sum of the one or two best experts of a group. */
  private float groupRank(Router router, int first, int size) {
    float best = Float.NEGATIVE_INFINITY;
    float second = Float.NEGATIVE_INFINITY;
    for (int i = first; i < first + size; i++) {
      if (ranks[i] > best) {
        second = best;
        best = ranks[i];
      } else if (ranks[i] > second) {
        second = ranks[i];
      }
    }
    return router.groupBest() == 1 ? best : best + second;
  }

  /**
   * The index of the largest value; of equal values, the lowest index. NaN is never the largest.
   */
  private static int best(float[] values, int count) {
    int best = -1;
    for (int i = 0; i < count; i++) {
      if (!Float.isNaN(values[i]) && (best < 0 || values[i] > values[best])) {
        best = i;
      }
    }
    return Math.max(best, 0);
  }
}
