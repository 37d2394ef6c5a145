package io.radixflow.jobs.drill;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What the time after each {@link Kill} is spent on, as JobManagers' logs tell. */
public final class RecoveryPhases {
  private static final Pattern JOB_RESTARTS =
      Pattern.compile("ExecutionGraph - Job .* switched from state \\w+ to RESTARTING\\.");
  private static final Pattern SUBTASK =
      Pattern.compile(
          "ExecutionGraph - serving\\b.* \\((\\d+)/\\d+\\) \\(\\S+\\) switched from \\w+ to (\\w+)\\b");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS");
  private static final int TIME_LENGTH = "2026-01-01 00:00:00,000".length();

  private final List<Change> changes;
  private final List<Phases> owned = new ArrayList<>();
  private final List<Phases> survivors = new ArrayList<>();

  /**
   * A line of interest.
   *
   * @param millis since the epoch
   * @param subtask of the serving operator; -1 for the whole job
   * @param to the state it changed to
   */
  private record Change(long millis, int subtask, String to) {}

  /** Of one subtask, milliseconds since the kill; in total over all when summed up. */
  private record Phases(long noticed, long deployed, long initializing, long running) {}

  private RecoveryPhases(List<Change> changes) {
    this.changes = changes;
  }

  /** Reads the logs of all JobManagers of a directory. */
  static RecoveryPhases read(Path logs, List<Kill> kills) throws IOException {
    List<Change> changes = new ArrayList<>();
    try (Stream<Path> files = Files.list(logs)) {
      for (Path log : files.filter(RecoveryPhases::isOfJobManager).toList()) {
        try (Stream<String> lines = Files.lines(log)) {
          lines.map(RecoveryPhases::change).filter(change -> change != null).forEach(changes::add);
        }
      }
    }
    return of(changes, kills);
  }

  /** From lines of a log. */
  static RecoveryPhases of(Stream<String> lines, List<Kill> kills) {
    return of(
        new ArrayList<>(
            lines.map(RecoveryPhases::change).filter(change -> change != null).toList()),
        kills);
  }

  private static RecoveryPhases of(List<Change> changes, List<Kill> kills) {
    changes.sort(Comparator.comparingLong(Change::millis));
    RecoveryPhases phases = new RecoveryPhases(changes);
    for (int i = 0; i < kills.size(); i++) {
      long end = i + 1 < kills.size() ? kills.get(i + 1).millis() : Long.MAX_VALUE;
      phases.add(kills.get(i), end);
    }
    return phases;
  }

  private static boolean isOfJobManager(Path log) {
    String name = log.getFileName().toString();
    return name.startsWith("jobmanager-") && name.endsWith(".log");
  }

  private static Change change(String line) {
    if (line.length() < TIME_LENGTH) {
      return null;
    }
    Matcher subtask = SUBTASK.matcher(line);
    if (subtask.find()) {
      return new Change(millis(line), Integer.parseInt(subtask.group(1)) - 1, subtask.group(2));
    }
    return JOB_RESTARTS.matcher(line).find() ? new Change(millis(line), -1, "RESTARTING") : null;
  }

  private static long millis(String line) {
    return LocalDateTime.parse(line.substring(0, TIME_LENGTH), TIME)
        .atZone(ZoneId.systemDefault())
        .toInstant()
        .toEpochMilli();
  }

  private void add(Kill kill, long end) {
    for (int subtask = 0; subtask < kill.parallelism(); subtask++) {
      Phases phases = phases(kill.millis(), end, subtask);
      if (phases != null) {
        (kill.subtasks().contains(subtask) ? owned : survivors).add(phases);
      }
    }
  }

  /** The first time that the subtask ran again, and the steps to it; null if it never did. */
  private Phases phases(long kill, long end, int subtask) {
    long noticed = 0;
    long deployed = 0;
    long initializing = 0;
    for (Change change : changes) {
      if (change.millis() < kill || change.millis() >= end) {
        continue;
      }
      long after = change.millis() - kill;
      if (change.subtask() < 0) {
        noticed = noticed == 0 ? after : noticed;
      } else if (change.subtask() == subtask) {
        switch (change.to()) {
          case "DEPLOYING" -> deployed = after;
          case "INITIALIZING" -> initializing = after;
          case "RUNNING" -> {
            return new Phases(noticed, deployed, initializing, after);
          }
          default -> {}
        }
      }
    }
    return null;
  }

  /** Of the subtasks of killed TaskManagers. */
  Medians owned() {
    return Medians.of(owned);
  }

  /** Of the others, which restart with them. */
  Medians survivors() {
    return Medians.of(survivors);
  }

  /**
   * Milliseconds from the kill, each the median.
   *
   * @param count of subtasks
   * @param noticed the job restarts for the first time
   * @param deployed the subtask is deployed for the last time; earlier ones went to the dead
   * @param initializing its TaskManager has taken it up
   * @param running its state is restored, its engine open, its sinks are connected
   */
  public record Medians(int count, long noticed, long deployed, long initializing, long running) {
    private static Medians of(List<Phases> phases) {
      return new Medians(
          phases.size(),
          median(phases, Phases::noticed),
          median(phases, Phases::deployed),
          median(phases, Phases::initializing),
          median(phases, Phases::running));
    }

    private static long median(List<Phases> phases, ToLongFunction<Phases> step) {
      return RecoveryTimes.Times.of(phases.stream().map(step::applyAsLong).toList()).median();
    }
  }
}
