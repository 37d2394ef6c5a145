package io.radixflow.engine;

/**
 * Requests of an engine, and counters of its scheduling decisions.
 *
 * @param runningRequests requests with pages
 * @param waitingRequests requests without pages
 * @param preemptions requests that lost their pages, because pages ran out or a more urgent request
 *     came
 * @param priorityPreemptions of these, requests preempted for more urgent ones
 * @param promotions requests admitted only because of their age
 * @param deferrals times that a request waited for a prefix that another request computed
 */
public record SchedulerStats(
    int runningRequests,
    int waitingRequests,
    long preemptions,
    long priorityPreemptions,
    long promotions,
    long deferrals) {
  /** An engine without requests so far. */
  public static final SchedulerStats NONE = new SchedulerStats(0, 0, 0, 0, 0, 0);
}
