package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.weights.Panels;

/**
 * The times of parts of operations, for a profile. Parts follow each other and do not nest. Owned
 * by the dispatcher.
 */
final class PartTimes {

  /** A part of an operation that is measured separately. */
  enum Part {
    ROUNDING("rounding"),
    EXPERT_CHOICE("choice of experts"),
    EXPERT_GATE_UP("gate and up of experts"),
    EXPERT_GATE("gate of experts"),
    EXPERT_DOWN("down of experts"),
    EXPERT_SUM("sum of experts"),
    DRAWS("draws");

    private final String title;

    Part(String title) {
      this.title = title;
    }
  }

  private static final Part[] PARTS = Part.values();

  private final WorkerTeam team;
  private final long[] calls = new long[PARTS.length];
  private final long[] nanos = new long[PARTS.length];
  private final long[] taskNanos = new long[PARTS.length];
  private final long[] multiplyAdds = new long[PARTS.length];
  private final long[] weightBytes = new long[PARTS.length];
  private long start;
  private long startTasks;

  PartTimes(WorkerTeam team) {
    this.team = team;
  }

  /** Begins a part. */
  void begin() {
    startTasks = team.taskNanos();
    start = System.nanoTime();
  }

  /** Ends the current part. */
  void end(Part part) {
    int i = part.ordinal();
    nanos[i] += System.nanoTime() - start;
    taskNanos[i] += team.taskNanos() - startTasks;
    calls[i]++;
  }

  /** Adds a product to the counts of a part. */
  void count(Part part, Panels panels, int rows) {
    multiplyAdds[part.ordinal()] += (long) rows * panels.rows() * panels.columns();
    weightBytes[part.ordinal()] += panels.bytes();
  }

  /** The total times of all parts. */
  StepProfile.Phase[] sums() {
    StepProfile.Phase[] sums = new StepProfile.Phase[PARTS.length];
    for (int i = 0; i < sums.length; i++) {
      sums[i] =
          new StepProfile.Phase(
              PARTS[i].title, calls[i], nanos[i], taskNanos[i], multiplyAdds[i], weightBytes[i]);
    }
    return sums;
  }
}
