package io.radixflow.lab.workload;

/**
 * How made-up conversations behave. Lengths and times are log-normal around their medians.
 *
 * @param sessions conversations
 * @param turns mean turns of those that go on after their first turn
 * @param onlyOneTurn share that do not
 * @param closed share that are closed by an event when they have ended; the others just stop
 * @param systemPrompts different system prompts; the n-th is chosen in proportion to 1/n
 * @param systemWords median words of a system prompt
 * @param messageWords median words of a user's message
 * @param replyWords median words of a reply
 * @param arrivalSeconds mean seconds between the starts of sessions
 * @param thinkSeconds median seconds from a reply to the next message
 * @param seed equal models make equal traffic
 */
public record TrafficModel(
    int sessions,
    double turns,
    double onlyOneTurn,
    double closed,
    int systemPrompts,
    int systemWords,
    int messageWords,
    int replyWords,
    double arrivalSeconds,
    double thinkSeconds,
    long seed) {

  /** An office's chat: a third asks once, the others come back five times, after a minute. */
  public static final TrafficModel DEFAULT =
      new TrafficModel(1000, 6, 0.35, 0.6, 8, 400, 40, 150, 5, 60, 1);

  /**
   * @throws IllegalArgumentException if a value is out of range
   */
  public TrafficModel {
    check("sessions", sessions, 1, 10_000_000);
    check("turns", turns, 1, 10_000);
    check("onlyOneTurn", onlyOneTurn, 0, 1);
    check("closed", closed, 0, 1);
    check("systemPrompts", systemPrompts, 1, 100_000);
    check("systemWords", systemWords, 1, 100_000);
    check("messageWords", messageWords, 1, 100_000);
    check("replyWords", replyWords, 1, 100_000);
    check("arrivalSeconds", arrivalSeconds, 1e-3, 1e6);
    check("thinkSeconds", thinkSeconds, 1e-3, 1e6);
  }

  private static void check(String name, double value, double min, double max) {
    if (!(value >= min && value <= max)) {
      throw new IllegalArgumentException(
          "%s is %s; it must be %s to %s".formatted(name, value, min, max));
    }
  }
}
