package io.radixflow.engine.cache.policy;

import java.util.Arrays;

/**
 * Learns when pages are used again, and derives the value of keeping a page. This value is the hit
 * density: the expected hits per tick if the page is kept for the best length of time. For a page
 * of age {@code a}, with {@code F} the distribution of the ages at which pages of its kind are used
 * again, the density is the maximum over {@code t} of
 *
 * <pre>(F(a + t) - F(a)) / (sum of (1 - F) from a to a + t)</pre>
 *
 * <p>This is the Gittins index of the page (Gittins 1979; used for caches by Beckmann and Sanchez,
 * "Modeling cache performance beyond LRU", HPCA 2016, and, with ages and classes learned online, as
 * LHD by Beckmann, Chen, Cidon, NSDI 2018). Unlike in LHD, evicted pages also count, so the result
 * does not depend on the choice of evicted pages.
 *
 * <p>The hazard of each bucket of ages is estimated from the reuses in it and the pages that
 * reached it, including those still waiting (Kaplan, Meier 1958). Observations are few and come in
 * bunches, because a run of pages is used at once. So each estimate is drawn towards a simpler
 * estimate that is scaled to the number of observed reuses. The estimate of a kind is drawn towards
 * the estimate of all kinds times the kind's odds. The estimate of all kinds is drawn towards a
 * hazard that falls with the age. Then neighbouring ages are averaged, and the densities of a kind
 * are drawn together, more strongly if fewer of the kind's reuses were observed. Without
 * observations, kinds are ordered by their odds, and pages within a kind by LRU.
 *
 * <p>The weight of a reuse depends on the tick at which its wait began. It halves every {@link
 * #HALF_LIFE} ticks.
 */
final class ReuseModel {
  /** About 4,000 requests; each request advances the clock twice. */
  private static final double HALF_LIFE = 8_000;

  /** From this exponent on, weights are divided by it. */
  private static final double LARGEST_EXPONENT = 64;

  /**
   * The weight of a simpler estimate, in pages. A request uses tens to hundreds of pages at once.
   * So this weight prevents a few requests from deciding the estimate, even if few pages fit.
   */
  private static final double PRIOR_PAGES = 200;

  /** An additional weight, as a share of the pages that fit. */
  private static final double PRIOR_SHARE = 0.01;

  /**
   * The weight of the simpler estimate in the estimate of all kinds, as a multiple of its usual
   * weight.
   */
  private static final double PRIOR_OF_ALL = 2;

  /**
   * The weight that holds the scale of a simpler estimate, as a multiple of that estimate's weight.
   */
  private static final double PRIOR_OF_SCALE = 4;

  /**
   * Before anything is known, the survival of a page per doubling of its age is 2 to the power of
   * minus this number.
   */
  private static final double PRIOR_EXPONENT = 0.5;

  /**
   * The share of a kind's mean in its densities before any reuse is seen; the rest depends on age.
   */
  private static final double SHARE_OF_MEAN = 0.8;

  /** The number of reuses that halves that share, as a multiple of a simpler estimate's weight. */
  private static final double PRIOR_OF_MEAN = 3;

  private static final double LARGEST_HAZARD = 0.999;
  private static final double NEGLIGIBLE_SURVIVAL = 1e-3;
  private static final int SMOOTHINGS = 4;

  private final int buckets = AgeScale.buckets();
  private final int kinds;
  private final KindOdds odds;
  private final double priorPages;
  private final double[][] reuses;
  private final double[][] density;
  private final double[] pooledReuses = new double[buckets];
  private final double[] pooledWaiting = new double[buckets];
  private final double[][] waiting;
  private final double[] atRisk = new double[buckets];
  private final double[] logWidth = new double[buckets];
  private final Rates prior = new Rates();
  private final Rates pooled = new Rates();
  private final Rates own = new Rates();
  private final double[] scratch = new double[buckets];
  private double base;

  /** The rates at which pages are used again, by the bucket of their age. */
  private static final class Rates {
    /** The rate per unit of the logarithm of the age. */
    final double[] rate = new double[AgeScale.buckets()];

    /** The probability of a reuse in the bucket, for a page that reaches it. */
    final double[] hazard = new double[rate.length];
  }

  /**
   * What {@link #learnPart} learns next: a kind, or, after the last kind in use, the rates that all
   * kinds have in common.
   */
  private int part;

  /**
   * @param kinds number of kinds of pages; each kind is learned separately
   * @param odds for the first kinds: how much more likely their pages are to be used again than
   *     other pages, until reuses are known; the other kinds have odds 1; see {@link KindOdds}
   * @param capacity number of pages that fit
   */
  ReuseModel(int kinds, double[] odds, int capacity) {
    this.kinds = kinds;
    this.odds = new KindOdds(odds);
    this.priorPages = PRIOR_PAGES + PRIOR_SHARE * capacity;
    this.reuses = new double[kinds][buckets];
    this.waiting = new double[kinds][buckets];
    this.density = new double[kinds][buckets];
    for (int i = 0; i < buckets; i++) {
      logWidth[i] = Math.log1p(AgeScale.width(i) / AgeScale.start(i));
      prior.rate[i] = PRIOR_EXPONENT;
    }
    fillHazards(prior);
  }

  /** Returns the weight of a page whose wait began at a tick. */
  double weight(long tick) {
    return Math.pow(2, (tick - base) / HALF_LIFE);
  }

  /** Called when pages were used again. */
  void reused(int kind, long age, double weight) {
    reuses[kind][AgeScale.bucket(age)] += weight;
  }

  /**
   * Returns the hits per tick that keeping a page of a kind and age is worth, as of the last time
   * that kind was learned.
   */
  double density(int kind, int bucket) {
    return density[kind][bucket];
  }

  /** Updates the densities of the first {@code used} kinds. */
  void learn(IdlePages idle, int used, long now) {
    rebase(idle, now);
    for (int kind = 0; kind < used; kind++) {
      count(idle, kind, now);
    }
    pool(used, now);
    for (int kind = 0; kind < used; kind++) {
      renew(kind, now);
    }
    part = 0;
  }

  /**
   * Updates the densities of one of the first {@code used} kinds, the next kind with each call. The
   * call after the last kind updates what all kinds have in common. A call takes a few
   * microseconds, instead of a few for each kind.
   */
  void learnPart(IdlePages idle, int used, long now) {
    if (part < used) {
      count(idle, part, now);
      renew(part, now);
      part++;
    } else {
      rebase(idle, now);
      pool(used, now);
      part = 0;
    }
  }

  private void rebase(IdlePages idle, long now) {
    if ((now - base) / HALF_LIFE < LARGEST_EXPONENT) {
      return;
    }
    double factor = 1 / weight(now);
    idle.scale(factor);
    for (int kind = 0; kind < kinds; kind++) {
      for (int i = 0; i < buckets; i++) {
        reuses[kind][i] *= factor;
        waiting[kind][i] *= factor;
      }
    }
    base = now;
  }

  private void count(IdlePages idle, int kind, long now) {
    Arrays.fill(waiting[kind], 0);
    for (int slot = 0; slot < idle.slots(); slot++) {
      waiting[kind][AgeScale.bucket(idle.age(slot, now))] += idle.waiting(slot, kind);
    }
  }

  private void pool(int used, long now) {
    Arrays.fill(pooledReuses, 0);
    Arrays.fill(pooledWaiting, 0);
    for (int kind = 0; kind < used; kind++) {
      for (int i = 0; i < buckets; i++) {
        pooledReuses[i] += reuses[kind][i];
        pooledWaiting[i] += waiting[kind][i];
      }
    }
    double weight = weight(now) * priorPages;
    estimate(pooledReuses, pooledWaiting, prior, 1, PRIOR_OF_ALL * weight, pooled);
    odds.begin();
    for (int kind = 0; kind < used; kind++) {
      double seen = reach(reuses[kind], waiting[kind]);
      odds.add(kind, seen, expected(pooled));
    }
    odds.fit(weight);
  }

  private void renew(int kind, long now) {
    double weight = weight(now) * priorPages;
    estimate(reuses[kind], waiting[kind], pooled, odds.of(kind), weight, own);
    rank(own.hazard, density[kind]);
    drawToMean(kind, weight);
  }

  /** Estimates rates from the observations and from simpler, scaled rates. */
  private void estimate(
      double[] used, double[] idle, Rates simpler, double scale, double weight, Rates into) {
    double held = PRIOR_OF_SCALE * weight;
    double seen = reach(used, idle);
    double scaled = (seen + scale * held) / (expected(simpler) + held);
    for (int i = 0; i < buckets; i++) {
      double drawnTo = hazardOf(scaled * simpler.rate[i], i);
      double estimate = (used[i] + weight * drawnTo) / (atRisk[i] + weight);
      into.rate[i] = -Math.log1p(-Math.min(LARGEST_HAZARD, estimate)) / logWidth[i];
    }
    for (int i = 0; i < SMOOTHINGS; i++) {
      smooth(into.rate);
    }
    fillHazards(into);
  }

  /** Sets {@link #atRisk} to the pages that reached each bucket; returns the pages used again. */
  private double reach(double[] used, double[] idle) {
    double older = 0;
    double seen = 0;
    for (int i = buckets - 1; i >= 0; i--) {
      atRisk[i] = older + used[i] + idle[i] / 2;
      older += used[i] + idle[i];
      seen += used[i];
    }
    return seen;
  }

  /** Returns how many of the pages {@link #atRisk} would be used again at the given rates. */
  private double expected(Rates rates) {
    double expected = 0;
    for (int i = buckets - 1; i >= 0; i--) {
      expected += atRisk[i] * rates.hazard[i];
    }
    return expected;
  }

  private void fillHazards(Rates rates) {
    for (int i = 0; i < buckets; i++) {
      rates.hazard[i] = hazardOf(rates.rate[i], i);
    }
  }

  private double hazardOf(double bucketRate, int bucket) {
    return -Math.expm1(-bucketRate * logWidth[bucket]);
  }

  private void smooth(double[] rate) {
    System.arraycopy(rate, 0, scratch, 0, buckets);
    for (int i = 0; i < buckets; i++) {
      double before = scratch[Math.max(0, i - 1)];
      double after = scratch[Math.min(buckets - 1, i + 1)];
      rate[i] = 0.25 * before + 0.5 * scratch[i] + 0.25 * after;
    }
  }

  /**
   * Computes the densities for the given hazards; a page is assumed to be in the middle of its
   * bucket.
   */
  private void rank(double[] hazard, double[] densities) {
    for (int from = 0; from < buckets; from++) {
      double used = 1 - Math.sqrt(1 - hazard[from]);
      double ticks = AgeScale.width(from) / 2 * (1 - used / 2);
      double best = used / ticks;
      double hits = used;
      double left = 1 - used;
      for (int i = from + 1; i < buckets && left > NEGLIGIBLE_SURVIVAL; i++) {
        hits += left * hazard[i];
        ticks += left * AgeScale.width(i) * (1 - hazard[i] / 2);
        left *= 1 - hazard[i];
        best = Math.max(best, hits / ticks);
      }
      densities[from] = best;
    }
  }

  /**
   * Draws a kind's densities towards their geometric mean over the time that its pages have waited:
   * differences between kinds are known sooner than differences between ages.
   */
  private void drawToMean(int kind, double weight) {
    double[] densities = density[kind];
    double seen = 0;
    double sum = 0;
    double total = 0;
    double reached = 0;
    for (int i = buckets - 1; i >= 0; i--) {
      seen += reuses[kind][i];
      reached += reuses[kind][i] + waiting[kind][i];
      double waited = reached * AgeScale.width(i);
      sum += waited * Math.log(densities[i]);
      total += waited;
    }
    if (total > 0) {
      double held = PRIOR_OF_MEAN * weight;
      double share = SHARE_OF_MEAN * held / (held + seen);
      double factor = Math.exp(share * sum / total);
      for (int i = 0; i < buckets; i++) {
        densities[i] = Math.pow(densities[i], 1 - share) * factor;
      }
    }
  }
}
