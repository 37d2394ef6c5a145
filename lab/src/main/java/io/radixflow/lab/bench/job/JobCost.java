package io.radixflow.lab.bench.job;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.Samples;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The CPU time of an idle job, of a turn and of a delta, by the purpose of the threads.
 *
 * @param turns of replies with one delta
 * @param deltas of replies with many
 * @param stops milliseconds for which a task was blocked in the last checkpoints of the turns
 */
record JobCost(ThreadCpu.Used idle, JobLoad.Outcome turns, JobLoad.Outcome deltas, Samples stops) {

  /** Returns the nanoseconds of a turn with one delta, in one group of threads. */
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

  void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%,d turns of 1 delta, then %,d of %.1f deltas; microseconds of CPU time%n",
        turns.turns(),
        deltas.turns(),
        (double) deltas.deltas() / deltas.turns());
    out.printf(Locale.ROOT, "%-38s %10s %10s %12s%n", "", "per turn", "per delta", "idle, per s");
    lines(out, ThreadGroupName.JOB);
    line(out, "all of the job", ThreadGroupName.JOB);
    Set<ThreadGroupName> others = EnumSet.complementOf(EnumSet.copyOf(ThreadGroupName.JOB));
    others.remove(ThreadGroupName.JVM);
    lines(out, others);
    line(out, "all of these", EnumSet.complementOf(EnumSet.of(ThreadGroupName.JVM)));
    lines(out, EnumSet.of(ThreadGroupName.JVM));
    firstText(out, "first text of 1-token replies, ms", turns);
    firstText(out, "first text of long replies, ms", deltas);
    if (stops.count() > 0) {
      out.printf(
          Locale.ROOT,
          "%-38s p50 %.1f, max %.1f (of %d)%n",
          "stop at a checkpoint, ms",
          stops.median(),
          stops.max(),
          stops.count());
    }
    out.flush();
  }

  private double idleNanos(ThreadGroupName group) {
    return idle.nanos(group) / idle.seconds();
  }

  private void lines(PrintWriter out, Set<ThreadGroupName> groups) {
    groups.forEach(group -> line(out, group.title(), EnumSet.of(group)));
  }

  /** Prints the total time of several groups of threads. */
  private void line(PrintWriter out, String name, Set<ThreadGroupName> groups) {
    out.printf(
        Locale.ROOT,
        "%-38s %10.1f %10.2f %12.0f%n",
        name,
        groups.stream().mapToDouble(this::turn).sum() / 1e3,
        groups.stream().mapToDouble(this::delta).sum() / 1e3,
        groups.stream().mapToDouble(this::idleNanos).sum() / 1e3);
  }

  private static void firstText(PrintWriter out, String name, JobLoad.Outcome outcome) {
    out.printf(
        Locale.ROOT,
        "%-38s p50 %.1f, p99 %.1f%n",
        name,
        outcome.firstText().median() * 1e3,
        outcome.firstText().quantile(0.99) * 1e3);
  }

  void putInto(ObjectNode json) {
    json.put("turns", turns.turns()).put("deltas", deltas.deltas());
    ObjectNode groups = json.putObject("cpu_seconds");
    for (ThreadGroupName group : ThreadGroupName.values()) {
      groups
          .putObject(group.name().toLowerCase(Locale.ROOT))
          .put("turn", turn(group) * 1e-9)
          .put("delta", delta(group) * 1e-9)
          .put("idle", idleNanos(group) * 1e-9);
    }
    turns.firstText().putInto(json.putObject("first_text_seconds"));
    if (stops.count() > 0) {
      stops.putInto(json.putObject("stop_millis"));
    }
  }
}
