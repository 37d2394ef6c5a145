package io.radixflow.gateway.turn;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Notices that replies are written and not committed: then a partition of the topic of replies has
 * records after its last decided transaction, and readers of committed records stand still there.
 * One thread.
 */
final class CommitWatch {

  private final long patienceNanos;
  private final Map<Integer, Stand> stands = new HashMap<>();

  /** Up to where a partition is committed, and since when it has more than that. */
  private record Stand(long committed, long since) {}

  /**
   * @param patience how long a reply may take from being written to being committed
   */
  CommitWatch(Duration patience) {
    this.patienceNanos = patience.toNanos();
  }

  /**
   * Takes the ends of all partitions.
   *
   * @param written the ends with records that are not committed, by partition
   * @param committed the ends for readers of committed records, by partition; asked for before
   *     {@code written}
   * @param now nanoseconds, as {@link System#nanoTime}
   * @return null, or what is wrong
   */
  String problem(Map<Integer, Long> written, Map<Integer, Long> committed, long now) {
    stands.keySet().retainAll(committed.keySet());
    long longest = 0;
    for (Map.Entry<Integer, Long> each : committed.entrySet()) {
      long end = each.getValue();
      if (written.getOrDefault(each.getKey(), end) <= end) {
        stands.remove(each.getKey());
        continue;
      }
      Stand stand = stands.get(each.getKey());
      if (stand == null || stand.committed != end) {
        stand = new Stand(end, now);
        stands.put(each.getKey(), stand);
      }
      longest = Math.max(longest, now - stand.since);
    }
    return longest < patienceNanos
        ? null
        : "replies are written and have not been committed for "
            + Duration.ofNanos(longest).toSeconds()
            + " s: look for failed checkpoints in the job's log, and at the brokers' disks";
  }
}
