package io.radixflow.operators.engine;

/**
 * How an engine's scheduler departed from the order of its policy.
 *
 * @param preemptions requests put back for more urgent ones; counted as retractions, too
 * @param promotions requests admitted for their age alone
 * @param deferrals times that a request waited for a prefix which another computed
 */
public record SchedulerStats(long preemptions, long promotions, long deferrals) {

  /** Of an engine that has done nothing yet. */
  public static final SchedulerStats NONE = new SchedulerStats(0, 0, 0);
}
