package io.radixflow.operators.engine.schedule;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The format of {@link CrashJournal}'s file, and what follows from one that a dead process left.
 *
 * <pre>
 * header   8 bytes "RFXCRASH", int version, int places, 16 bytes zero
 * places   one entry each
 * suspects {@link #MAX_SUSPECTS} entries
 * entry    long name, long check, int computed, int submitted, int deaths, int suspect, long since
 * </pre>
 *
 * All big-endian. An entry holds something if {@code check} fits {@code name}; it is cleared before
 * the others change and set last, so that an entry whose writer died is empty. The file is read as
 * untrusted: sizes are compared before anything else, numbers are brought into their range.
 *
 * <p>A death is held against a request that was under way alone, or was the only suspect under way:
 * suspects run one at a time. Otherwise all that were under way become suspects, with nothing held
 * against them yet. Replies repeat bit by bit, so one that kills does so at the same token: who got
 * beyond the place of the death before has nothing to do with it.
 */
final class CrashRecord {
  /** Suspects that are remembered. */
  static final int MAX_SUSPECTS = 1_024;

  /** How long a suspect is remembered that does not come again. */
  private static final long MEMORY_MILLIS = TimeUnit.DAYS.toMillis(1);

  private static final long MAGIC = 0x5246584352415348L;
  private static final int VERSION = 1;
  private static final int HEADER = 32;
  private static final int ENTRY = 40;
  private static final int MAX_PLACES = 1 << 17;
  private static final long SALT = 0x9E3779B97F4A7C15L;

  static final int MAX_BYTES = HEADER + (MAX_PLACES + MAX_SUSPECTS) * ENTRY;

  static final int NAME = 0;
  static final int CHECK = 8;
  static final int COMPUTED = 16;
  static final int SUBMITTED = 20;
  static final int DEATHS = 24;
  static final int IS_SUSPECT = 28;
  static final int SINCE = 32;

  private CrashRecord() {}

  /**
   * What is held against a request.
   *
   * @param deaths how often it ended a process on its own, at the same place
   * @param reached tokens that were submitted when it last did, or may have
   * @param since when, milliseconds since the epoch
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

  /** What tells an entry with a name from an empty one. */
  static long check(long name) {
    return Long.rotateLeft(name ^ SALT, 23) * SALT | 1;
  }

  /** Where a place's entry is. */
  static int at(int place) {
    return HEADER + place * ENTRY;
  }

  static int places(ByteBuffer content) {
    return content.getInt(12);
  }

  /** A file in which nothing is under way. */
  static ByteBuffer fresh(int places, Map<Long, Suspect> suspects) {
    if (places > MAX_PLACES) {
      throw new IllegalArgumentException(places + " places are more than " + MAX_PLACES);
    }
    ByteBuffer content = ByteBuffer.allocate(HEADER + (places + MAX_SUSPECTS) * ENTRY);
    content.putLong(0, MAGIC).putInt(8, VERSION).putInt(12, places);
    int at = at(places);
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
    int first = at(places(content));
    for (int at = first; at < first + MAX_SUSPECTS * ENTRY; at += ENTRY) {
      if (content.getLong(at + NAME) == name) {
        content.putLong(at + CHECK, 0);
      }
    }
  }

  /**
   * Who is suspect after the death of the process that wrote the file; nobody if it is none.
   *
   * @param content whatever was found, from its first byte
   */
  static Map<Long, Suspect> suspects(ByteBuffer content, long now) {
    if (content.limit() < HEADER
        || content.getLong(0) != MAGIC
        || content.getInt(8) != VERSION
        || places(content) < 0
        || places(content) > MAX_PLACES
        || content.limit() != HEADER + (places(content) + MAX_SUSPECTS) * ENTRY) {
      return Map.of();
    }
    List<Entry> underWay = new ArrayList<>();
    Map<Long, Suspect> suspects = new HashMap<>();
    int first = at(places(content));
    for (int at = HEADER; at < content.limit(); at += ENTRY) {
      Entry entry = Entry.read(content, at);
      if (entry != null && at < first) {
        underWay.add(entry);
      } else if (entry != null && now - entry.since() < MEMORY_MILLIS) {
        suspects.put(entry.name(), new Suspect(entry.deaths(), entry.submitted(), entry.since()));
      }
    }
    Entry blamed = blamed(underWay);
    for (Entry entry : underWay) {
      suspects.put(entry.name(), accused(entry, suspects.get(entry.name()), entry == blamed, now));
    }
    return newest(suspects);
  }

  private static Entry blamed(List<Entry> underWay) {
    if (underWay.size() == 1) {
      return underWay.get(0);
    }
    List<Entry> suspects = underWay.stream().filter(Entry::suspect).toList();
    return suspects.size() == 1 ? suspects.get(0) : null;
  }

  /** What a death makes of a request under way. */
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
