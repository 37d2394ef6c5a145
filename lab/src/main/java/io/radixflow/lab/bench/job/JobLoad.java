package io.radixflow.lab.bench.job;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.traffic.ConversationSource;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.protocol.record.ConversationEvent;
import java.util.List;

/** Sends turns of several sessions at regular intervals, and counts the replies. */
final class JobLoad {
  /** Turns of a session before another session replaces it, so that histories stay short. */
  private static final int TURNS = 8;

  private final KafkaTarget job;
  private final int sessions;
  private final String name;
  private long sent;

  /**
   * @param sessions that have turns at the same time
   * @param name prefix of the sessions' ids
   */
  JobLoad(KafkaTarget job, int sessions, String name) {
    this.job = job;
    this.sessions = sessions;
    this.name = name;
  }

  /**
   * The outcome of a run.
   *
   * @param turns answered turns
   * @param deltas number of deltas with text
   * @param used CPU time from the first event to the last reply
   * @param firstText seconds from the event to the first text of each turn
   */
  record Outcome(long turns, long deltas, ThreadCpu.Used used, Samples firstText) {}

  /**
   * Runs for a number of seconds.
   *
   * @param tokens tokens of each reply
   * @param gapNanos time between two turns
   */
  Outcome run(double seconds, int tokens, long gapNanos) throws InterruptedException {
    long turns = Math.max(1, (long) (seconds * 1e9 / gapNanos));
    ThreadCpu before = ThreadCpu.take();
    List<KafkaReply> replies =
        Driver.paced(job, turn -> turn < turns ? message(tokens) : null, gapNanos);
    ThreadCpu.Used used = ThreadCpu.take().since(before);
    Samples firstText = new Samples();
    replies.forEach(reply -> firstText.add(reply.firstSeconds()));
    return new Outcome(
        turns, replies.stream().mapToLong(KafkaReply::pieces).sum(), used, firstText);
  }

  private ConversationEvent message(int tokens) {
    long number = sent++;
    String session = name + "-" + number / sessions / TURNS + "-" + number % sessions;
    String text = "Tell me about the number " + number + ".";
    return ConversationSource.message(session, "turn-" + number, text, tokens).build();
  }
}
