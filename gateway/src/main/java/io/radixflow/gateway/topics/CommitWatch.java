package io.radixflow.gateway.topics;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Notices replies that are written but not committed. In this case a partition of the reply topic
 * has records after its last completed transaction, and readers of committed records cannot
 * advance. Only one thread may use this.
 */
final class CommitWatch {

  private final long patienceNanos;
  private final Map<Integer, Stand> stands = new HashMap<>();

  /**
   * The committed end of a partition, and the time since which the partition has further records.
   */
  private record Stand(long committed, long since) {}

  /**
   * @param patience how long a written reply may stay uncommitted
   */
  CommitWatch(Duration patience) {
    this.patienceNanos = patience.toNanos();
  }

  /**
   * Compares the ends of all partitions.
   *
   * @param written the ends including uncommitted records, by partition
   * @param committed the ends for readers of committed records, by partition; read before {@code
   *     written}
   * @param now nanoseconds, as {@link System#nanoTime}
   * @return the problem, or null
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
