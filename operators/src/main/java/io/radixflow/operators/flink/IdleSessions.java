package io.radixflow.operators.flink;

import io.radixflow.operators.record.TierTokens;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The subtask's sessions without turns that had pages somewhere when that was last known, warm ones
 * and cold ones, in the order in which that was; and those that seem to be gone and may not be.
 * Those that are gone are not in here.
 *
 * <p>In memory, some 150 bytes a session, whose pages take thousands of times that. The task's
 * thread alone changes it; any thread may read the counts.
 */
final class IdleSessions {
  /** Milliseconds for which nobody looks for a cold session again. */
  static final long COLD_FOR = 600_000;

  /** With the number of pages that the device had evicted by then. */
  private final Map<String, Long> warm = new LinkedHashMap<>();

  /** With the time. */
  private final Map<String, Long> cold = new LinkedHashMap<>();

  /** Those that may not be gone: 0 until somebody looks for them, then 1. */
  private final Map<String, Long> unknown = new LinkedHashMap<>();

  /** Cold ones that only a remote file system has, where a look costs a request. */
  private final Set<String> remote = new HashSet<>();

  /** Sessions all of whose pages were on the device. */
  int warm() {
    return warm.size();
  }

  /** Sessions of which tiers below the device had pages that it had not. */
  int cold() {
    return cold.size() + remote.size();
  }

  /**
   * What was found out of a session.
   *
   * @param places where its pages are
   * @param evictions pages that the device has evicted so far; -1 if the session is to be looked
   *     for although there are no more
   * @param now milliseconds; 0 if it is to be looked for however soon
   */
  void put(String session, TierTokens places, long evictions, long now) {
    remove(session);
    switch (places.state(false)) {
      case WARM -> warm.put(session, evictions);
      case COLD -> {
        if (places.host() + places.disk() == 0) {
          remote.add(session);
        } else {
          cold.put(session, now);
        }
      }
      default -> {
        if (now == 0) {
          unknown.put(session, 0L);
        }
      }
    }
  }

  /** A session has turns, or has ended. */
  void remove(String session) {
    warm.remove(session);
    cold.remove(session);
    unknown.remove(session);
    remote.remove(session);
  }

  /**
   * Sessions that may have become something else: warm ones if the device has evicted pages since,
   * then those that may not be gone, then cold ones for which nobody has looked for long. They are
   * not due again before that.
   *
   * @param most how many at most
   */
  List<String> takeDue(int most, long evictions, long now) {
    List<String> due = new ArrayList<>(take(most, warm, evictions, evictions));
    due.addAll(take(most - due.size(), unknown, 1, 1));
    due.addAll(take(most - due.size(), cold, now - COLD_FOR + 1, now));
    return due;
  }

  private static List<String> take(int most, Map<String, Long> from, long before, long next) {
    List<String> taken =
        from.entrySet().stream()
            .limit(most)
            .takeWhile(each -> each.getValue() < before)
            .map(Map.Entry::getKey)
            .toList();
    taken.forEach(
        session -> {
          from.remove(session);
          from.put(session, next);
        });
    return taken;
  }
}
