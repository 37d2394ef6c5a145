package io.radixflow.lab.drill.proof;

import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Sums the tokens of prompts by the tier that they came from. An attempt's number is its start
 * time, so after a kill the next process answers with the first attempt that has a later number.
 */
public final class TierTally {
  private final List<Kill> kills;

  /** For each kill: tokens from disk and remote by attempt, for sessions of the killed process. */
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
   * Tokens of all committed replies' prompts by source.
   *
   * @param computed tokens that no tier had
   * @param device tokens from the device
   * @param host tokens from host memory
   * @param disk tokens from TaskManagers' disks
   * @param remote tokens from the folder that all TaskManagers reach
   * @param afterKills tokens from disk and folder that processes loaded after they took over from
   *     killed ones
   */
  public record Tokens(
      long computed, long device, long host, long disk, long remote, long afterKills) {

    /** Returns the tokens from tiers below the device. */
    public long below() {
      return host + disk + remote;
    }
  }
}
