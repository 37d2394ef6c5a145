package io.radixflow.lab.drill.proof;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.TierUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Sums up where prompts' tokens came from. An attempt's number is the clock when it began, so the
 * process that took over after a kill answers with the first attempt that began after it.
 */
public final class TierTally {
  private final List<Kill> kills;

  /** For each kill, tokens from disk and remote by attempt, of sessions that the dead served. */
  private final List<TreeMap<Long, Long>> after = new ArrayList<>();

  private long computed;
  private long device;
  private long host;
  private long disk;
  private long remote;

  public TierTally(List<Kill> kills) {
    this.kills = List.copyOf(kills);
    kills.forEach(kill -> after.add(new TreeMap<>()));
  }

  public void reply(Reply reply) {
    TierUsage tiers = reply.usage().tiers();
    host += tiers.hostTokens();
    disk += tiers.diskTokens();
    remote += tiers.remoteTokens();
    device +=
        reply.usage().cachedTokens()
            - tiers.hostTokens()
            - tiers.diskTokens()
            - tiers.remoteTokens();
    computed += reply.usage().promptTokens() - reply.usage().cachedTokens();
    for (int i = 0; i < kills.size(); i++) {
      if (reply.attempt() > kills.get(i).millis() && kills.get(i).owned(reply.session())) {
        long stored = (long) tiers.diskTokens() + tiers.remoteTokens();
        after.get(i).merge(reply.attempt(), stored, Long::sum);
      }
    }
  }

  public Tokens tokens() {
    long afterKills =
        after.stream()
            .filter(attempts -> !attempts.isEmpty())
            .mapToLong(attempts -> attempts.firstEntry().getValue())
            .sum();
    return new Tokens(computed, device, host, disk, remote, afterKills);
  }

  /**
   * Where prompts' tokens came from, of all committed replies.
   *
   * @param computed that no tier had
   * @param device that the device had
   * @param host from host memory
   * @param disk from TaskManagers' disks
   * @param remote from the folder that all TaskManagers reach
   * @param afterKills of those from disk and folder, by the processes that took over from killed
   *     ones
   */
  public record Tokens(
      long computed, long device, long host, long disk, long remote, long afterKills) {

    /** Returns the tokens from tiers below the device. */
    public long below() {
      return host + disk + remote;
    }
  }
}
