package io.radixflow.lab.traffic;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * Runs conversations continuously. Each of several lanes has one conversation at a time and sends
 * its turns to a target. Scripts are used on one thread. The static methods send single turns.
 */
public final class Driver<T, R> implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 600;

  private final Supplier<? extends Script<T, R>> scripts;
  private final List<? extends Target<T, R>> targets;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "traffic"));
  private final List<T> sent = new ArrayList<>();
  private final Map<T, R> replies = new HashMap<>();
  private final List<String> failures = new ArrayList<>();
  private int asked;
  private boolean stopped;

  private Driver(List<? extends Target<T, R>> targets, Supplier<? extends Script<T, R>> scripts) {
    this.targets = targets;
    this.scripts = scripts;
  }

  /** Creates a thread that does not keep the process alive. */
  public static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Starts sending.
   *
   * @param targets one for each lane; the driver closes them at the end
   * @param scripts gives the next conversation, or null when there is none
   */
  public static <T, R> Driver<T, R> start(
      List<? extends Target<T, R>> targets, Supplier<? extends Script<T, R>> scripts) {
    Driver<T, R> driver = new Driver<>(List.copyOf(targets), scripts);
    for (Target<T, R> target : driver.targets) {
      driver.thread.execute(driver.new Lane(target)::advance);
    }
    return driver;
  }

  /** One conversation at a time. */
  private final class Lane {
    private final Target<T, R> target;
    private Script<T, R> script;
    private int inFlight;

    Lane(Target<T, R> target) {
      this.target = target;
    }

    void advance() {
      while (!isStopped()) {
        if ((script == null || script.ended()) && inFlight == 0) {
          script = scripts.get();
        }
        Script.Step<T> step = script == null ? null : script.next(inFlight);
        if (step == null) {
          return;
        }
        if (step.pauseMillis() > 0) {
          thread.schedule(() -> send(step), step.pauseMillis(), TimeUnit.MILLISECONDS);
        } else {
          send(step);
        }
      }
    }

    private void send(Script.Step<T> step) {
      synchronized (Driver.this) {
        if (stopped) {
          return;
        }
        sent.add(step.turn());
        asked += step.answered() ? 1 : 0;
      }
      inFlight += step.answered() ? 1 : 0;
      CompletableFuture<R> reply = target.send(step.turn());
      if (step.answered()) {
        Script<T, R> asking = script;
        reply.whenComplete(
            (answer, failure) -> thread.execute(() -> done(asking, step.turn(), answer, failure)));
      }
    }

    private void done(Script<T, R> asking, T turn, R reply, Throwable failure) {
      synchronized (Driver.this) {
        if (failure != null) {
          failures.add("a client failed: " + Errors.line(failure));
          return;
        }
        replies.put(turn, reply);
      }
      inFlight--;
      asking.answered(turn, reply);
      advance();
    }
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  /** Stops sending turns; lanes still wait for replies to sent turns. */
  public synchronized void stop() {
    stopped = true;
  }

  /** Returns all sent turns in order, including turns without a reply. */
  public synchronized List<T> sent() {
    return List.copyOf(sent);
  }

  public synchronized Map<T, R> replies() {
    return Map.copyOf(replies);
  }

  public synchronized int replyCount() {
    return replies.size();
  }

  /** Returns the number of sent turns without a reply. */
  public synchronized int unanswered() {
    return asked - replies.size();
  }

  /** Returns the failures of targets; each failure ended a lane. */
  public synchronized List<String> failures() {
    return List.copyOf(failures);
  }

  @Override
  public void close() {
    stop();
    thread.shutdownNow();
    targets.forEach(Target::close);
  }

  /**
   * Sends turns at regular intervals, even if earlier turns have no reply yet.
   *
   * @param turns returns a turn by its number from 0; null ends the load
   */
  public static <T, R> List<R> paced(Target<T, R> target, LongFunction<T> turns, long gapNanos)
      throws InterruptedException {
    List<CompletableFuture<R>> replies = new ArrayList<>();
    long start = System.nanoTime();
    while (true) {
      long due = start + replies.size() * gapNanos;
      for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      T turn = turns.apply(replies.size());
      if (turn == null) {
        return all(replies);
      }
      replies.add(target.send(turn));
    }
  }

  /** Sends turns, at most {@code atOnce} of them at a time. */
  public static <T, R> List<R> bounded(Target<T, R> target, Iterable<T> turns, int atOnce)
      throws InterruptedException {
    Semaphore room = new Semaphore(atOnce);
    List<CompletableFuture<R>> replies = new ArrayList<>();
    for (T turn : turns) {
      room.acquire();
      replies.add(target.send(turn).whenComplete((reply, failure) -> room.release()));
    }
    return all(replies);
  }

  private static <R> List<R> all(List<CompletableFuture<R>> replies) throws InterruptedException {
    List<R> all = new ArrayList<>();
    for (CompletableFuture<R> reply : replies) {
      all.add(await(reply));
    }
    return all;
  }

  /**
   * Waits for a reply.
   *
   * @throws CliException if there is none
   */
  public static <R> R await(CompletableFuture<R> reply) throws InterruptedException {
    try {
      return reply.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new CliException("a turn has no reply: " + Errors.line(e.getCause()), e);
    } catch (TimeoutException e) {
      throw new CliException("a turn has no reply after " + PATIENCE_SECONDS + " s", e);
    }
  }
}
