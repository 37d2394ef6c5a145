package io.radixflow.lab.drill.http;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Keeps HTTP clients busy: each has a thread and one conversation at a time, one turn after the
 * other.
 */
public final class HttpTraffic implements AutoCloseable {
  private static final long CLOSE_MILLIS = 5000;

  private final Supplier<HttpScript> scripts;
  private final Map<DrillClient, Thread> lanes = new HashMap<>();
  private final List<Heard> heard = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();
  private int sent;
  private boolean stopped;

  private HttpTraffic(Supplier<HttpScript> scripts) {
    this.scripts = scripts;
  }

  /**
   * Starts to send.
   *
   * @param clients closed here at the end
   * @param scripts gives the next conversation; many threads use it
   */
  public static HttpTraffic start(List<DrillClient> clients, Supplier<HttpScript> scripts) {
    HttpTraffic traffic = new HttpTraffic(scripts);
    for (DrillClient client : clients) {
      Thread thread = new Thread(() -> traffic.run(client), "http-" + traffic.lanes.size());
      thread.setDaemon(true);
      traffic.lanes.put(client, thread);
    }
    traffic.lanes.values().forEach(Thread::start);
    return traffic;
  }

  private void run(DrillClient client) {
    try {
      boolean goesOn = true;
      while (goesOn) {
        goesOn = converse(client, scripts.get());
      }
    } catch (IOException e) {
      synchronized (this) {
        failures.add("a client failed: " + e);
      }
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether another conversation may follow. */
  private boolean converse(DrillClient client, HttpScript script)
      throws IOException, InterruptedException {
    Map<Integer, Heard> said = new HashMap<>();
    for (int i = 0; i < script.steps().size(); i++) {
      synchronized (this) {
        if (stopped) {
          return false;
        }
        sent++;
      }
      Heard one = client.send(HttpTurn.of(script, i, said));
      said.put(i, one);
      synchronized (this) {
        heard.add(one);
      }
      if (one.finish() == null) {
        return true;
      }
    }
    return true;
  }

  /** Stops sending. Replies to requests that were sent are still awaited. */
  public synchronized void stop() {
    stopped = true;
  }

  /** The turns whose replies were heard to their end. */
  public synchronized List<Heard> heard() {
    return List.copyOf(heard);
  }

  public synchronized int heardCount() {
    return heard.size();
  }

  /** The turns that were sent and not heard to their end. */
  public synchronized int unheard() {
    return sent - heard.size();
  }

  /** Returns failures of clients themselves, rather than faults in replies. */
  public synchronized List<String> failures() {
    return List.copyOf(failures);
  }

  @Override
  public void close() {
    stop();
    lanes.values().forEach(Thread::interrupt);
    lanes.keySet().forEach(DrillClient::close);
    try {
      for (Thread thread : lanes.values()) {
        thread.join(CLOSE_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
