package io.radixflow.lab.drill.proof;

import io.radixflow.cli.command.common.Samples;
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

/** The phases of the recovery after each {@link Kill}, read from JobManagers' logs. */
public final class RecoveryPhases {
  private static final Pattern JOB_RESTARTS =
      Pattern.compile("ExecutionGraph - Job .* switched from state \\w+ to RESTARTING\\.");
  private static final Pattern SUBTASK =
      Pattern.compile(
          "ExecutionGraph - (serving|deltas)\\b.* \\((\\d+)/\\d+\\) \\(\\S+\\) switched from \\w+"
              + " to (\\w+)\\b");
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
   * @param subtask of the serving operator, or of the sink of deltas; -1 for the whole job
   * @param sink whether it is one of the sink
   * @param to the state it changed to
   */
  private record Change(long millis, int subtask, boolean sink, String to) {}

  private RecoveryPhases(List<Change> changes) {
    this.changes = changes;
  }

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
      int number = Integer.parseInt(subtask.group(2)) - 1;
      boolean sink = subtask.group(1).equals("deltas");
      return new Change(millis(line), number, sink, subtask.group(3));
    }
    return JOB_RESTARTS.matcher(line).find()
        ? new Change(millis(line), -1, false, "RESTARTING")
        : null;
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

  /**
   * The first time that subtask and sink ran again, and the steps to it; null if they never did.
   */
  private Phases phases(long kill, long end, int subtask) {
    long noticed = 0;
    long deployed = 0;
    long initializing = 0;
    long running = 0;
    long connected = 0;
    for (Change change : changes) {
      if (change.millis() < kill || change.millis() >= end) {
        continue;
      }
      long after = change.millis() - kill;
      if (change.subtask() < 0) {
        noticed = noticed == 0 ? after : noticed;
      } else if (change.subtask() == subtask && change.sink()) {
        connected = change.to().equals("RUNNING") ? after : 0;
      } else if (change.subtask() == subtask) {
        switch (change.to()) {
          case "DEPLOYING" -> deployed = after;
          case "INITIALIZING" -> initializing = after;
          default -> {}
        }
        running = change.to().equals("RUNNING") ? after : 0;
      }
      if (running > 0 && connected > 0) {
        return new Phases(noticed, deployed, initializing, running, connected);
      }
    }
    return null;
  }

  /** Summarizes the subtasks of killed TaskManagers. */
  Summary owned() {
    return Summary.of(owned);
  }

  /** Summarizes the other subtasks, which restart with them. */
  Summary survivors() {
    return Summary.of(survivors);
  }

  /**
   * Milliseconds from the kill.
   *
   * @param noticed the job restarts for the first time
   * @param deployed the subtask is deployed for the last time; earlier ones went to the dead
   * @param initializing its TaskManager has taken it up
   * @param running its state is restored, its engine open
   * @param connected the sink of its deltas is connected, too
   */
  public record Phases(
      long noticed, long deployed, long initializing, long running, long connected) {
    private static final Phases NONE = new Phases(0, 0, 0, 0, 0);

    private static Phases medians(List<Phases> all) {
      return new Phases(
          median(all, Phases::noticed),
          median(all, Phases::deployed),
          median(all, Phases::initializing),
          median(all, Phases::running),
          median(all, Phases::connected));
    }

    private static long median(List<Phases> all, ToLongFunction<Phases> step) {
      Samples samples = new Samples();
      all.stream().mapToLong(step).forEach(samples::add);
      return samples.count() == 0 ? 0 : Math.round(samples.median());
    }

    private long end() {
      return Math.max(running, connected);
    }
  }

  /**
   * The phases of several subtasks.
   *
   * @param count how many
   * @param medians the median of each phase
   * @param slowest the phases of the longest recovery
   */
  public record Summary(int count, Phases medians, Phases slowest) {
    private static Summary of(List<Phases> all) {
      return new Summary(
          all.size(),
          Phases.medians(all),
          all.stream().max(Comparator.comparingLong(Phases::end)).orElse(Phases.NONE));
    }
  }
}
