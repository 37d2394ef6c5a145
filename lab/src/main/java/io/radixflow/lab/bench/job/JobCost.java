package io.radixflow.lab.bench.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.Figures;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The CPU time of an idle job, of a turn and of a delta, by the purpose of the threads.
 *
 * @param turns the run with one delta per reply
 * @param deltas the run with many deltas per reply
 * @param stops milliseconds for which a task was blocked in the last checkpoints of the turns
 */
record JobCost(ThreadCpu.Used idle, JobLoad.Outcome turns, JobLoad.Outcome deltas, Samples stops) {

  /** Returns the nanoseconds of a turn with one delta in one group of threads. */
  private double turn(ThreadGroupName group) {
    return aboveIdle(turns, group) / turns.turns();
  }

  /** Returns the nanoseconds of each further delta of a turn. */
  private double delta(ThreadGroupName group) {
    double more = aboveIdle(deltas, group) - deltas.turns() * turn(group);
    return more / Math.max(1, deltas.deltas() - deltas.turns());
  }

  private double aboveIdle(JobLoad.Outcome outcome, ThreadGroupName group) {
    double share = idle.nanos(group) / idle.seconds();
    return outcome.used().nanos(group) - share * outcome.used().seconds();
  }

  void addTo(Figures figures) {
    figures.json().put("turns", turns.turns()).put("deltas", deltas.deltas());
    figures.note(
        "%,d turns of 1 delta, then %,d of %.1f deltas; microseconds of CPU time",
        turns.turns(), deltas.turns(), (double) deltas.deltas() / deltas.turns());
    figures.note("%-38s %10s %10s %12s", "", "per turn", "per delta", "idle, per s");
    Set<ThreadGroupName> product = EnumSet.complementOf(EnumSet.of(ThreadGroupName.JVM));
    ObjectNode json = figures.json().putObject("cpu_seconds");
    for (ThreadGroupName group : ThreadGroupName.values()) {
      json.putObject(group.name().toLowerCase(Locale.ROOT))
          .put("turn", turn(group) * 1e-9)
          .put("delta", delta(group) * 1e-9)
          .put("idle", idleNanos(group) * 1e-9);
      line(figures, group.title(), EnumSet.of(group));
    }
    line(figures, "all of the job", ThreadGroupName.JOB);
    line(figures, "all but the JVM", product);
    figures.head("milliseconds");
    figures.add("first text, one token", "first_text_seconds", turns.firstText(), 1e3);
    figures.add("first text, long replies", "first_text_seconds_long", deltas.firstText(), 1e3);
    figures.add("stop at a checkpoint", "stop_millis", stops, 1);
  }

  private double idleNanos(ThreadGroupName group) {
    return idle.nanos(group) / idle.seconds();
  }

  /** Adds the total time of several groups of threads. */
  private void line(Figures figures, String name, Set<ThreadGroupName> groups) {
    figures.note(
        "%-38s %10.1f %10.2f %12.0f",
        name,
        groups.stream().mapToDouble(this::turn).sum() / 1e3,
        groups.stream().mapToDouble(this::delta).sum() / 1e3,
        groups.stream().mapToDouble(this::idleNanos).sum() / 1e3);
  }
}
