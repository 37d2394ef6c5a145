package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.kernels.cpu.step.StepProfile;
import io.radixflow.kernels.cpu.step.StepProfile.Phase;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The time of each operation in a case's steps, the longest first, with its shares of the steps and
 * of the machine's peaks.
 *
 * @param name the case
 * @param seconds elapsed time of all steps, measured by the caller of the backend
 * @param profile the same steps on the backend's dispatcher
 * @param threads compute threads of the backend
 * @param multiplyAdds multiply-adds per second that the machine reaches; 0 if unknown
 * @param readBytes bytes per second that the machine reads; 0 if unknown
 */
record StepAccount(
    String name,
    double seconds,
    StepProfile profile,
    int threads,
    double multiplyAdds,
    double readBytes) {

  private static final String FORMAT = "%-36s %9s %6s %7s %8s %6s %6s %6s %6s";

  /** Adds a line per operation, and the operations under {@code phases} of a result. */
  void addTo(Figures figures, ObjectNode json) {
    figures.note("");
    figures.note(
        FORMAT, name, "us/step", "calls", "time", "GMAC/s", "peak", "GB/s", "peak", "busy");
    for (Phase phase : phases()) {
      line(figures, phase);
      json.withArray("phases")
          .addObject()
          .put("name", phase.name())
          .put("seconds", phase.nanos() * 1e-9 / profile.steps())
          .put("calls", (double) phase.calls() / profile.steps())
          .put("multiply_adds", phase.multiplyAdds() / profile.steps())
          .put("weight_bytes", phase.weightBytes() / profile.steps())
          .put("task_seconds", phase.taskNanos() * 1e-9 / profile.steps());
    }
  }

  /** Returns the operations and the pauses between them, the longest first. */
  private List<Phase> phases() {
    List<Phase> phases = profile.phases();
    long inside = phases.stream().mapToLong(Phase::nanos).sum();
    phases.add(phase("between operations", profile.nanos() - inside));
    phases.add(
        phase("hand-over to the backend and back", (long) (seconds * 1e9) - profile.nanos()));
    phases.sort(Comparator.comparingLong(Phase::nanos).reversed());
    return phases;
  }

  private Phase phase(String name, long nanos) {
    return new Phase(name, profile.steps(), nanos, 0, 0, 0);
  }

  private void line(Figures figures, Phase phase) {
    double multiplied = phase.multiplyAdds() * 1e9 / phase.nanos();
    double read = phase.weightBytes() * 1e9 / phase.nanos();
    figures.note(
        FORMAT,
        phase.name(),
        number(phase.nanos() / 1e3 / profile.steps()),
        number((double) phase.calls() / profile.steps()),
        share(phase.nanos() * 1e-9, seconds),
        number(multiplied / 1e9),
        share(multiplied, multiplyAdds),
        number(read / 1e9),
        share(read, readBytes),
        share(phase.taskNanos(), (double) phase.nanos() * threads));
  }

  private static String number(double value) {
    return value == 0 ? "" : String.format(Locale.ROOT, "%.1f", value);
  }

  private static String share(double part, double whole) {
    return part == 0 || whole == 0 ? "" : String.format(Locale.ROOT, "%.1f %%", 100 * part / whole);
  }
}
