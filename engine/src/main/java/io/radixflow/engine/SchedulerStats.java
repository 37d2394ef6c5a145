package io.radixflow.engine;

/**
 * The requests of an engine, and how its scheduler departed from the order of its policy.
 *
 * @param runningRequests requests with pages
 * @param waitingRequests requests without pages
 * @param preemptions requests that lost their pages, for want of pages or to more urgent requests
 * @param priorityPreemptions of these, requests preempted for more urgent ones
 * @param promotions requests admitted for their age alone
 * @param deferrals times that a request waited for a prefix which another computed
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
