package io.radixflow.engine.schedule;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The format of {@link CrashJournal}'s file, and the evaluation of the file of a dead process.
 *
 * <pre>
 * header   8 bytes "RFXCRASH", int version, int entries, 16 bytes zero
 * entries  one entry each
 * suspects {@link #MAX_SUSPECTS} entries
 * entry    long name, long check, int computed, int submitted, int deaths, int suspect, long since
 * </pre>
 *
 * Numbers are big-endian. An entry is valid if {@code check} matches {@code name}. The writer
 * clears {@code check} before it changes other fields and sets it last, so an entry is empty if its
 * writer died during a change. The file is untrusted: the reader checks sizes first, and limits
 * numbers to their ranges.
 *
 * <p>A death counts against a request if it was the only request or the only suspect in flight;
 * suspects run one at a time. Otherwise all requests in flight become suspects, and the death is
 * not counted. Replies are the same in each attempt, so a deadly request ends the process at the
 * same token each time. A request that got beyond the position of an earlier death did not cause
 * that death.
 */
final class CrashRecord {
  /** The maximum number of remembered suspects. */
  static final int MAX_SUSPECTS = 1_024;

  /** How long a suspect is remembered if it is not submitted again. */
  private static final long MEMORY_MILLIS = TimeUnit.DAYS.toMillis(1);

  private static final long MAGIC = 0x5246584352415348L;
  private static final int VERSION = 1;
  private static final int HEADER = 32;
  private static final int ENTRY = 40;
  private static final int MAX_ENTRIES = 1 << 17;
  private static final long SALT = 0x9E3779B97F4A7C15L;

  static final int MAX_BYTES = HEADER + (MAX_ENTRIES + MAX_SUSPECTS) * ENTRY;

  static final int NAME = 0;
  static final int CHECK = 8;
  static final int COMPUTED = 16;
  static final int SUBMITTED = 20;
  static final int DEATHS = 24;
  static final int IS_SUSPECT = 28;
  static final int SINCE = 32;

  private CrashRecord() {}

  /**
   * The suspicion against a request.
   *
   * @param deaths how often the request ended a process on its own, at the same position
   * @param reached tokens that were submitted at the last death that the request caused or may have
   *     caused
   * @param since time of that death, milliseconds since the epoch
   */
  record Suspect(int deaths, int reached, long since) {}

  private record Entry(
      long name, int computed, int submitted, int deaths, boolean suspect, long since) {
    static Entry read(ByteBuffer content, int at) {
      long name = content.getLong(at + NAME);
      return content.getLong(at + CHECK) != check(name)
          ? null
          : new Entry(
              name,
              Math.max(0, content.getInt(at + COMPUTED)),
              Math.max(0, content.getInt(at + SUBMITTED)),
              Math.max(0, Math.min(content.getInt(at + DEATHS), Short.MAX_VALUE)),
              content.getInt(at + IS_SUSPECT) != 0,
              content.getLong(at + SINCE));
    }
  }

  /** Returns the check of a name; it distinguishes an entry from an empty entry. */
  static long check(long name) {
    return Long.rotateLeft(name ^ SALT, 23) * SALT | 1;
  }

  static int at(int entry) {
    return HEADER + entry * ENTRY;
  }

  static int entryCount(ByteBuffer content) {
    return content.getInt(12);
  }

  /** Returns a file without requests in flight. */
  static ByteBuffer fresh(int entryCount, Map<Long, Suspect> suspects) {
    if (entryCount > MAX_ENTRIES) {
      throw new IllegalArgumentException(entryCount + " entries are more than " + MAX_ENTRIES);
    }
    ByteBuffer content = ByteBuffer.allocate(HEADER + (entryCount + MAX_SUSPECTS) * ENTRY);
    content.putLong(0, MAGIC).putInt(8, VERSION).putInt(12, entryCount);
    int at = at(entryCount);
    for (Map.Entry<Long, Suspect> each : suspects.entrySet()) {
      content.putLong(at + NAME, each.getKey());
      content.putLong(at + CHECK, check(each.getKey()));
      content.putInt(at + SUBMITTED, each.getValue().reached());
      content.putInt(at + DEATHS, each.getValue().deaths());
      content.putLong(at + SINCE, each.getValue().since());
      at += ENTRY;
    }
    return content;
  }

  /** Empties the entry of a suspect. */
  static void acquit(ByteBuffer content, long name) {
    int first = at(entryCount(content));
    for (int at = first; at < first + MAX_SUSPECTS * ENTRY; at += ENTRY) {
      if (content.getLong(at + NAME) == name) {
        content.putLong(at + CHECK, 0);
      }
    }
  }

  /**
   * Returns the suspects after the death of the process that wrote the file; empty if the file is
   * not valid.
   *
   * @param content all bytes of the file; untrusted
   */
  static Map<Long, Suspect> suspects(ByteBuffer content, long now) {
    if (content.limit() < HEADER
        || content.getLong(0) != MAGIC
        || content.getInt(8) != VERSION
        || entryCount(content) < 0
        || entryCount(content) > MAX_ENTRIES
        || content.limit() != HEADER + (entryCount(content) + MAX_SUSPECTS) * ENTRY) {
      return Map.of();
    }
    List<Entry> running = new ArrayList<>();
    Map<Long, Suspect> suspects = new HashMap<>();
    int first = at(entryCount(content));
    for (int at = HEADER; at < content.limit(); at += ENTRY) {
      Entry entry = Entry.read(content, at);
      if (entry != null && at < first) {
        running.add(entry);
      } else if (entry != null && now - entry.since() < MEMORY_MILLIS) {
        suspects.put(entry.name(), new Suspect(entry.deaths(), entry.submitted(), entry.since()));
      }
    }
    Entry blamed = blamed(running);
    for (Entry entry : running) {
      suspects.put(entry.name(), accused(entry, suspects.get(entry.name()), entry == blamed, now));
    }
    return newest(suspects);
  }

  private static Entry blamed(List<Entry> running) {
    if (running.size() == 1) {
      return running.get(0);
    }
    List<Entry> suspects = running.stream().filter(Entry::suspect).toList();
    return suspects.size() == 1 ? suspects.get(0) : null;
  }

  /** Returns the suspicion against a request that was in flight at a death. */
  private static Suspect accused(Entry entry, Suspect before, boolean blamed, long now) {
    boolean gotFurther = before == null || entry.computed() >= before.reached();
    return new Suspect(
        (gotFurther ? 0 : before.deaths()) + (blamed ? 1 : 0),
        gotFurther ? entry.submitted() : Math.max(before.reached(), entry.submitted()),
        now);
  }

  private static Map<Long, Suspect> newest(Map<Long, Suspect> suspects) {
    if (suspects.size() <= MAX_SUSPECTS) {
      return suspects;
    }
    Map<Long, Suspect> kept = new HashMap<>();
    suspects.entrySet().stream()
        .sorted(
            Comparator.comparing(
                Map.Entry::getValue,
                Comparator.comparingInt(Suspect::deaths)
                    .thenComparingLong(Suspect::since)
                    .reversed()))
        .limit(MAX_SUSPECTS)
        .forEach(each -> kept.put(each.getKey(), each.getValue()));
    return kept;
  }
}
