package io.radixflow.operators.session;

import io.radixflow.protocol.record.TierTokens;

/**
 * The last known places of a session's pages; a Flink POJO. This is a hint for people and for
 * planning: a turn looks its pages up when it comes, and never depends on this.
 *
 * <p>It is part of the {@link SessionSlot}, because each further written state makes RocksDB write
 * a file at a checkpoint, while the operator waits.
 *
 * @param branch the branch that the last turn was of
 * @param committedTokens tokens of its whole pages
 * @param tokens how many of these were in each tier
 * @param lastUsed when a turn last used them, milliseconds since the epoch
 * @param asOf when they were there: when that turn ended or they were last looked for, milliseconds
 *     since the epoch
 * @param numericsEpoch which engines can use them; with another epoch they are computed again
 * @param disk the name of the engine's directory on a TaskManager's disk; null if it has none
 * @param remote URI of the remote folder; null if there is none
 */
public record SessionPages(
    String branch,
    int committedTokens,
    TierTokens tokens,
    long lastUsed,
    long asOf,
    String numericsEpoch,
    String disk,
    String remote) {

  /**
   * Returns the same pages after they were looked for again.
   *
   * @param now milliseconds since the epoch
   * @param home the directory on disk that was looked into, or null
   * @param folder the remote folder that was looked into, or null
   */
  public SessionPages found(TierTokens places, long now, String home, String folder) {
    return new SessionPages(
        branch, committedTokens, places, lastUsed, now, numericsEpoch, home, folder);
  }

  /**
   * Returns where these pages are expected without looking for them.
   *
   * @param sameProcess whether the engine that made them is the one in use
   * @param epoch the numerics epoch of the engine in use
   * @param home its directory on disk, or null
   * @param folder its remote folder, or null
   */
  public TierTokens expected(boolean sameProcess, String epoch, String home, String folder) {
    if (sameProcess) {
      return tokens;
    }
    if (!epoch.equals(numericsEpoch)) {
      return TierTokens.NONE;
    }
    boolean sameDisk = disk != null && disk.equals(home);
    boolean sameFolder = remote != null && remote.equals(folder);
    return new TierTokens(0, 0, sameDisk ? tokens.disk() : 0, sameFolder ? tokens.remote() : 0);
  }
}
