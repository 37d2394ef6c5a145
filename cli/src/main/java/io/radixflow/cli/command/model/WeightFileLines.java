package io.radixflow.cli.command.model;

import io.radixflow.kernels.cpu.weights.WeightFiles;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;

/** Describes files of repacked weights. */
final class WeightFileLines {

  private WeightFileLines() {}

  /** Returns the size of a file, when a process last opened it, and its path. */
  static String of(WeightFiles.Entry entry, Instant now) {
    return String.format(
        Locale.ROOT,
        "%.1f MB, last used %s ago%s: %s",
        entry.bytes() / (double) (1 << 20),
        age(Duration.between(entry.lastUsed().toInstant(), now)),
        entry.inUse() ? ", in use" : "",
        entry.path());
  }

  private static String age(Duration age) {
    if (age.toMinutes() < 120) {
      return Math.max(0, age.toMinutes()) + " minutes";
    }
    return age.toHours() < 48 ? age.toHours() + " hours" : age.toDays() + " days";
  }
}
