package io.radixflow.lab.drill;

import io.radixflow.jobs.client.ConversationClient;
import io.radixflow.jobs.client.ReplyListener;
import io.radixflow.lab.drill.proof.TurnKey;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.Reply;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Keeps conversations going: a number of lanes, each with one session at a time and a few of its
 * turns in flight. An event that could not be sent is sent again. A cancel follows its turn after a
 * moment, or precedes it, and is not waited for. Everything runs on one thread.
 */
final class Traffic implements AutoCloseable {
  private static final int DEPTH = 2;
  private static final long RESEND_SECONDS = 1;

  private final ConversationClient client;
  private final Supplier<List<ConversationEvent>> scripts;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "traffic");
            made.setDaemon(true);
            return made;
          });
  private final List<ConversationEvent> sent = new ArrayList<>();
  private final Set<TurnKey> asked = new HashSet<>();
  private final Map<TurnKey, Reply> replies = new HashMap<>();
  private boolean stopped;

  private Traffic(ConversationClient client, Supplier<List<ConversationEvent>> scripts) {
    this.client = client;
    this.scripts = scripts;
  }

  /**
   * Starts to send.
   *
   * @param client not closed here
   * @param lanes sessions at a time
   * @param scripts gives the events of the next session, or null when there is none
   */
  static Traffic start(
      ConversationClient client, int lanes, Supplier<List<ConversationEvent>> scripts) {
    Traffic traffic = new Traffic(client, scripts);
    for (int i = 0; i < lanes; i++) {
      Lane lane = traffic.new Lane();
      traffic.thread.execute(lane::advance);
    }
    return traffic;
  }

  /** One session at a time. */
  private final class Lane {
    private final Deque<ConversationEvent> left = new ArrayDeque<>();
    private int inFlight;
    private boolean quiet;

    void advance() {
      while (!isStopped()) {
        if (left.isEmpty() && inFlight == 0) {
          List<ConversationEvent> script = scripts.get();
          if (script == null) {
            return;
          }
          left.addAll(script);
        }
        ConversationEvent next = left.peek();
        if (next != null && next.kind() == EventKind.CANCEL) {
          cancelSoon(left.remove());
          continue;
        }
        if (next == null
            || quiet
            || inFlight == DEPTH
            || (SessionScript.needsQuiet(next) && inFlight > 0)) {
          return;
        }
        left.remove();
        String calls = SessionScript.resultsOf(next);
        quiet = SessionScript.needsQuiet(next);
        inFlight++;
        synchronized (Traffic.this) {
          if (calls != null) {
            Reply reply = replies.get(new TurnKey(next.session(), calls));
            next = SessionScript.withResults(next, reply);
          }
          sent.add(next);
          asked.add(TurnKey.of(next));
        }
        ask(next);
      }
    }

    private void ask(ConversationEvent event) {
      client
          .ask(event, ReplyListener.SILENT)
          .whenComplete(
              (reply, failure) -> {
                if (failure == null) {
                  thread.execute(() -> done(event, reply));
                } else if (!thread.isShutdown()) {
                  thread.schedule(() -> ask(event), RESEND_SECONDS, TimeUnit.SECONDS);
                }
              });
    }

    private void done(ConversationEvent event, Reply reply) {
      synchronized (Traffic.this) {
        replies.put(TurnKey.of(event), reply);
      }
      inFlight--;
      quiet = false;
      advance();
    }
  }

  /** One that comes before its turn is sent at once, so that it stays before it. */
  private void cancelSoon(ConversationEvent cancel) {
    if (cancel.turn() != null && !isAsked(TurnKey.of(cancel))) {
      cancel(cancel);
    } else {
      long pause = SessionScript.pauseBefore(cancel);
      thread.schedule(() -> cancel(cancel), pause, TimeUnit.MILLISECONDS);
    }
  }

  private void cancel(ConversationEvent event) {
    synchronized (this) {
      if (stopped) {
        return;
      }
      sent.add(event);
    }
    send(event);
  }

  private void send(ConversationEvent event) {
    client
        .send(event)
        .whenComplete(
            (done, failure) -> {
              if (failure != null && !thread.isShutdown()) {
                thread.schedule(() -> send(event), RESEND_SECONDS, TimeUnit.SECONDS);
              }
            });
  }

  private synchronized boolean isAsked(TurnKey turn) {
    return asked.contains(turn);
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  /** Sends no more events; those sent are still waited for. */
  synchronized void stop() {
    stopped = true;
  }

  /** Everything sent, in order; cancels too. */
  synchronized List<ConversationEvent> sent() {
    return List.copyOf(sent);
  }

  synchronized Map<TurnKey, Reply> replies() {
    return Map.copyOf(replies);
  }

  synchronized int replyCount() {
    return replies.size();
  }

  /** Returns whether all that was sent is answered. */
  synchronized boolean isAnswered() {
    return replies.size() == asked.size();
  }

  @Override
  public void close() {
    stop();
    thread.shutdownNow();
  }
}
