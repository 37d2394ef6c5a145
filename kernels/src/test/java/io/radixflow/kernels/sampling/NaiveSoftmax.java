package io.radixflow.kernels.sampling;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The definitions of {@link SamplingParams} written down directly, in doubles, with full sorts. */
final class NaiveSoftmax {

  /** A token that may be drawn. */
  record Candidate(int id, double logit, double probability) {}

  private NaiveSoftmax() {}

  /** Tokens that may be drawn, most probable first. */
  static List<Candidate> candidates(float[] logits, SamplingParams params) {
    double temperature = params.temperature();
    List<Candidate> left = new ArrayList<>();
    for (int id = 0; id < logits.length; id++) {
      left.add(new Candidate(id, logits[id] / (temperature == 0 ? 1 : temperature), 0));
    }
    left.sort(Comparator.comparingDouble(Candidate::logit).reversed().thenComparing(Candidate::id));
    if (temperature == 0) {
      return softmax(left.subList(0, 1));
    }
    int k = params.topK();
    if (k > 0 && k < left.size()) {
      double kth = left.get(k - 1).logit();
      left.removeIf(c -> c.logit() < kth);
    }
    left = softmax(left);
    if (params.topP() < 1) {
      double before = 0;
      int kept = 0;
      while (kept < left.size() && before < params.topP()) {
        before += left.get(kept++).probability();
      }
      left = softmax(left.subList(0, kept));
    }
    double least = params.minP() * left.get(0).probability();
    left.removeIf(c -> c.probability() < least);
    return softmax(left);
  }

  private static List<Candidate> softmax(List<Candidate> candidates) {
    double max = candidates.get(0).logit();
    double sum = candidates.stream().mapToDouble(c -> Math.exp(c.logit() - max)).sum();
    List<Candidate> result = new ArrayList<>();
    for (Candidate c : candidates) {
      result.add(new Candidate(c.id(), c.logit(), Math.exp(c.logit() - max) / sum));
    }
    return result;
  }
}
