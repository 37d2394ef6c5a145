package io.radixflow.lab.workload;

import picocli.CommandLine.Option;

/**
 * The properties of made-up conversations, as command line options. Lengths and times are
 * log-normal around their medians; equal models make equal traffic. The defaults resemble an
 * office's chat: a third of the users ask once, and the others return five times after a minute
 * each.
 */
public final class TrafficModel {
  @Option(names = "--sessions", paramLabel = "N", description = "Number of conversations.")
  int sessions = 1000;

  @Option(names = "--turns", paramLabel = "N", description = "Mean turns of the other sessions.")
  double turns = 6;

  @Option(
      names = "--only-one-turn",
      paramLabel = "SHARE",
      description = "Share of sessions with one turn.")
  double onlyOneTurn = 0.35;

  @Option(
      names = "--closed",
      paramLabel = "SHARE",
      description = "Share of sessions that are closed at the end.")
  double closed = 0.6;

  @Option(
      names = "--system-prompts",
      paramLabel = "N",
      description = "System prompts that sessions share.")
  int systemPrompts = 8;

  @Option(
      names = "--system-words",
      paramLabel = "N",
      description = "Median words of a system prompt.")
  int systemWords = 400;

  @Option(names = "--message-words", paramLabel = "N", description = "Median words of a message.")
  int messageWords = 40;

  @Option(names = "--reply-words", paramLabel = "N", description = "Median words of a reply.")
  int replyWords = 150;

  @Option(
      names = "--arrivals",
      paramLabel = "SECONDS",
      description = "Mean time between the starts of sessions.")
  double arrivalSeconds = 5;

  @Option(
      names = "--think",
      paramLabel = "SECONDS",
      description = "Median time from a reply to the next message.")
  double thinkSeconds = 60;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the random generator.")
  long seed = 1;

  /**
   * @throws IllegalArgumentException if a value is out of range
   */
  void check() {
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
