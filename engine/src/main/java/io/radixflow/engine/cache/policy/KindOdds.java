package io.radixflow.engine.cache.policy;

import java.util.Arrays;

/**
 * Estimates how much more likely pages of a kind are to be used again than other pages, while few
 * reuses of that kind are known. The estimate is the given odds, raised to a learned power. The
 * power is 1 at first; at 0 all kinds are alike. It is one number, estimated from the reuses of all
 * kinds, so it is known long before the rates of each kind. If frequently used pages are not more
 * likely to be used again, as in conversations of any length, the order soon approaches the order
 * of LRU.
 *
 * <p>The power is the slope of a weighted regression: the logarithm of (reuses seen / reuses
 * expected if the kinds were alike) on the logarithm of the given odds. The weight of a kind is the
 * smaller of both numbers of reuses. The initial power also has a weight.
 */
final class KindOdds {
  /** The weight of the initial power, as a multiple of the given weight. */
  private static final double PRIOR_OF_POWER = 60;

  private final double[] logs;
  private final double[] odds;
  private double power = 1;
  private double weight;
  private double x;
  private double y;
  private double xx;
  private double xy;

  /**
   * @param odds the initial odds of the first kinds, which are learned; all other kinds have odds 1
   */
  KindOdds(double[] odds) {
    this.odds = odds.clone();
    this.logs = Arrays.stream(odds).map(Math::log).toArray();
  }

  double of(int kind) {
    return kind < odds.length ? odds[kind] : 1;
  }

  /** Forgets all added kinds. */
  void begin() {
    weight = 0;
    x = 0;
    y = 0;
    xx = 0;
    xy = 0;
  }

  /**
   * Adds the observations of a kind.
   *
   * @param seen pages that were used again
   * @param expected pages of these ages that would be used again if all kinds were alike
   */
  void add(int kind, double seen, double expected) {
    double counts = Math.min(seen, expected);
    if (kind >= odds.length || !(counts > 0)) {
      return;
    }
    double log = Math.log(seen / expected);
    weight += counts;
    x += counts * logs[kind];
    y += counts * log;
    xx += counts * logs[kind] * logs[kind];
    xy += counts * logs[kind] * log;
  }

  /**
   * Sets the odds from the observations added since {@link #begin}.
   *
   * @param priorPages the weight of the simpler estimate, in pages
   */
  void fit(double priorPages) {
    double prior = PRIOR_OF_POWER * priorPages;
    double spread = weight > 0 ? xx - x * x / weight : 0;
    double slope = weight > 0 ? xy - x * y / weight : 0;
    power = Math.max(0, Math.min(1, (slope + prior) / (spread + prior)));
    for (int kind = 0; kind < odds.length; kind++) {
      odds[kind] = Math.exp(power * logs[kind]);
    }
  }
}
