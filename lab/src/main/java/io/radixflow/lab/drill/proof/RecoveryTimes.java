package io.radixflow.lab.drill.proof;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Times from each {@link Kill} to the next delta of the running turns, by the record timestamps of
 * the brokers. An attempt's number is its start time, so the next delta after a kill is the first
 * delta of an attempt with a later number.
 */
public final class RecoveryTimes {
  private final List<Kill> kills;

  /** For each kill, the turns that had a delta shortly before it. */
  private final List<Set<TrafficTurn>> running = new ArrayList<>();

  private final List<Map<TrafficTurn, Long>> lastBefore = new ArrayList<>();
  private final Waits waits = new Waits(new Samples(), new Samples(), new Samples());

  /**
   * Waiting times of sessions in milliseconds.
   *
   * @param owned times from the kill, for sessions of the killed TaskManagers
   * @param survivors times from the kill, for the other sessions
   * @param silence times between two deltas, for the other sessions; they continue until the
   *     failure is noticed
   */
  public record Waits(Samples owned, Samples survivors, Samples silence) {}

  public RecoveryTimes(List<Kill> kills) {
    this.kills = List.copyOf(kills);
    for (int i = 0; i < kills.size(); i++) {
      running.add(new HashSet<>());
      lastBefore.add(new HashMap<>());
    }
  }

  /** Adds the next delta of a partition. */
  public void delta(ReplyDelta delta, long timestamp) {
    TrafficTurn key = TrafficTurn.of(delta);
    for (int i = 0; i < kills.size(); i++) {
      Kill kill = kills.get(i);
      if (delta.attempt() <= kill.millis()) {
        if (delta.finishReason() != null) {
          running.get(i).remove(key);
        } else {
          running.get(i).add(key);
          lastBefore.get(i).put(key, timestamp);
        }
      } else if (running.get(i).remove(key) && isNext(i, delta)) {
        recovered(i, key, timestamp);
      }
    }
  }

  /** Returns true if there is no other kill between the kill and the attempt. */
  private boolean isNext(int index, ReplyDelta delta) {
    return index + 1 == kills.size() || delta.attempt() <= kills.get(index + 1).millis();
  }

  private void recovered(int index, TrafficTurn key, long timestamp) {
    Kill kill = kills.get(index);
    if (kill.owned(key.session())) {
      waits.owned.add(timestamp - kill.millis());
    } else {
      waits.survivors.add(timestamp - kill.millis());
      waits.silence.add(timestamp - lastBefore.get(index).get(key));
    }
  }

  public Waits waits() {
    return waits;
  }
}
