package io.radixflow.lab.bench.job;

import io.radixflow.jobs.client.ConversationClient;
import io.radixflow.jobs.client.ReplyListener;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.Reply;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import io.radixflow.tools.cli.common.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Sends turns of several sessions at an even pace, and counts the replies. */
final class JobLoad {
  /** Turns of a session before another takes its place, so that histories stay short. */
  private static final int TURNS = 8;

  private static final long PATIENCE_SECONDS = 600;

  private final ConversationClient client;
  private final int sessions;
  private final String name;
  private long sent;

  /**
   * @param sessions that have turns at a time
   * @param name begins the sessions' ids
   */
  JobLoad(ConversationClient client, int sessions, String name) {
    this.client = client;
    this.sessions = sessions;
    this.name = name;
  }

  /**
   * What a run came to.
   *
   * @param turns that were answered
   * @param deltas with text that were read
   * @param used CPU time from the first event to the last reply
   * @param firstText seconds from the event to the first text of each turn
   */
  record Outcome(long turns, long deltas, ThreadCpu.Used used, Samples firstText) {}

  /**
   * Runs for a time.
   *
   * @param tokens of each reply
   * @param gapNanos between two turns
   */
  Outcome run(double seconds, int tokens, long gapNanos) throws InterruptedException {
    AtomicLong deltas = new AtomicLong();
    ConcurrentLinkedQueue<Double> firstTexts = new ConcurrentLinkedQueue<>();
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    ThreadCpu before = ThreadCpu.take();
    long start = System.nanoTime();
    long turns = Math.max(1, (long) (seconds * 1e9 / gapNanos));
    for (long i = 0; i < turns; i++) {
      pause(start + i * gapNanos);
      replies.add(ask(tokens, deltas, firstTexts));
    }
    try {
      for (CompletableFuture<Reply> reply : replies) {
        reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    } catch (ExecutionException e) {
      throw new CliException("a turn has no reply: " + Errors.line(e.getCause()), e);
    } catch (java.util.concurrent.TimeoutException e) {
      throw new CliException("a turn has no reply after " + PATIENCE_SECONDS + " s", e);
    }
    Samples samples = new Samples();
    firstTexts.forEach(samples::add);
    return new Outcome(turns, deltas.get(), ThreadCpu.take().since(before), samples);
  }

  private static void pause(long until) {
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private CompletableFuture<Reply> ask(
      int tokens, AtomicLong deltas, ConcurrentLinkedQueue<Double> firstTexts) {
    long number = sent++;
    long lap = number / sessions / TURNS;
    String session = name + "-" + lap + "-" + number % sessions;
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, session, "turn-" + number)
            .messages(List.of(new Message("user", "Tell me about the number " + number + ".")))
            .options(GenerationOptions.greedy(tokens))
            .build();
    long begun = System.nanoTime();
    return client.ask(
        event,
        new ReplyListener() {
          private boolean began;

          @Override
          public void text(String piece) {
            deltas.incrementAndGet();
            if (!began) {
              began = true;
              firstTexts.add((System.nanoTime() - begun) * 1e-9);
            }
          }
        });
  }
}
