package io.radixflow.engine.draft;

import io.radixflow.engine.draft.SpeculationOptions.Mode;

/**
 * Decides how many drafts a step verifies. It chooses the number that yields the most tokens per
 * time, from the probabilities of the drafts and the measured time of steps by their rows. So a
 * step verifies no drafts if they do not pay. Examples are a reply that repeats nothing, and a
 * device or batch where a further row costs as much as it yields.
 *
 * <p>Engine thread only, except {@link #open}.
 */
public final class DraftPolicy {
  /** The gain of a step below which drafts are not worth the risk. */
  private static final double LEAST_GAIN = 1.05;

  private final int mostDrafts;
  private final boolean always;
  private final DraftHistory history;
  private final DraftRates rates = new DraftRates();
  private final StepCosts costs = new StepCosts();
  private int decodingRows;
  private int rows;
  private double tokens;
  private long drafted;
  private long accepted;
  private long draftedSteps;

  public DraftPolicy(SpeculationOptions options) {
    mostDrafts = options.mode() == Mode.OFF ? 0 : options.drafts();
    always = options.mode() == Mode.ALWAYS;
    history = new DraftHistory(mostDrafts == 0 ? 0 : options.historyBytes());
  }

  /**
   * Makes a drafter; null if drafts are off. Any thread.
   *
   * @param capacity tokens of the request, and of the text that it may repeat
   * @param namespace the namespace whose history the request may repeat
   */
  public Drafter open(int capacity, String namespace) {
    return mostDrafts == 0
        ? null
        : new Drafter(
            rates,
            mostDrafts,
            capacity,
            new HistoryMatches(history, namespace),
            new TreePath(history));
  }

  /**
   * Remembers an ended turn, for drafts of other turns of its namespace.
   *
   * @param from index in {@code tokens} of the first token that this engine has not seen before
   * @param promptLength tokens of the prompt; its end is always kept with the reply
   * @param to the end of the reply
   */
  public void remember(String namespace, int[] tokens, int from, int promptLength, int to) {
    int begin = Math.min(from, promptLength - SuffixMatches.LONGEST);
    history.add(namespace, tokens, Math.max(0, begin), to);
  }

  /** Drops the remembered tokens, because a session or a tenant is erased. */
  public void erase() {
    history.clear();
  }

  /**
   * Begins to plan a step.
   *
   * @param decodingRows rows without drafts
   */
  public void beginStep(int decodingRows) {
    this.decodingRows = decodingRows;
    rows = decodingRows;
    tokens = decodingRows;
  }

  /**
   * Makes the drafts of a request, and decides how many to verify.
   *
   * @param pending tokens of steps in flight, 0 or 1; drafts follow a guess of the pending token
   * @param most the most drafts that fit in the step
   * @return how many drafts to verify, from index {@code pending} on
   */
  public int choose(Drafter drafter, int pending, int most) {
    drafter.propose(pending + Math.min(most, mostDrafts));
    return decide(drafter, pending, most);
  }

  /** Decides like {@link #choose}, but uses the existing drafts. */
  public int decide(Drafter drafter, int pending, int most) {
    int made = Math.min(drafter.count() - pending, most);
    if (always) {
      return Math.max(0, made);
    }
    double chance = pending == 0 || made < 0 ? 1 : drafter.chanceOf(0);
    double bestSpeed = tokens / costs.of(rows) * LEAST_GAIN;
    double gain = 0;
    double bestGain = 0;
    int best = 0;
    for (int count = 1; count <= made; count++) {
      chance *= drafter.chanceOf(pending + count - 1);
      gain += chance;
      double speed = (tokens + gain) / costs.of(rows + count);
      if (speed > bestSpeed) {
        bestSpeed = speed;
        bestGain = gain;
        best = count;
      }
    }
    rows += best;
    tokens += bestGain;
    return best;
  }

  /**
   * Returns how many drafts of a request may pay in a batch like the last step's if all are right.
   */
  public int mostUseful() {
    int most = always ? mostDrafts : 0;
    int beside = Math.max(1, decodingRows);
    double worth = LEAST_GAIN * beside / costs.of(beside);
    for (int count = mostDrafts; count > most; count--) {
      most = (beside + count) / costs.of(beside + count) > worth ? count : most;
    }
    return most;
  }

  /** Called when a step that verifies drafts is submitted. */
  public void submitted(int drafts) {
    drafted += drafts;
    draftedSteps++;
  }

  /** Called when {@code drafts} drafts of a request were right. */
  public void accepted(int drafts) {
    accepted += drafts;
  }

  /** Called with the measured time of a step of decoding requests. */
  public void measured(int stepRows, long nanos) {
    costs.add(stepRows, nanos);
  }

  /**
   * Returns the time of a step with {@code stepRows} rows of decoding requests; 0 if it is unknown.
   */
  public double stepNanos(int stepRows) {
    return costs.of(stepRows);
  }

  /** Returns whether drafts are enabled. Any thread. */
  public boolean isOn() {
    return mostDrafts > 0;
  }

  public DraftStats stats() {
    return new DraftStats(drafted, accepted, draftedSteps, history.bytes());
  }
}
