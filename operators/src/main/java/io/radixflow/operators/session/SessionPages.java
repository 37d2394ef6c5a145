package io.radixflow.operators.session;

import io.radixflow.protocol.record.kv.TierTokens;

/**
 * The last known places of a session's pages; a Flink POJO. They are only a hint for queries and
 * planning: a turn looks up its pages when it runs.
 *
 * <p>They are part of the {@link SessionSlot}, because RocksDB writes a file for each further state
 * at a checkpoint, and the operator waits for that.
 *
 * @param branch the branch of the last turn
 * @param committedTokens tokens of its whole pages
 * @param tokens how many of these tokens were in each tier
 * @param lastUsed when a turn last used them, milliseconds since the epoch
 * @param asOf when the places were known: the end of the last turn or the last look-up,
 *     milliseconds since the epoch
 * @param numericsEpoch the epoch of engines that can use the pages; with another epoch they are
 *     computed again
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
   * Returns the same pages after another look-up.
   *
   * @param now milliseconds since the epoch
   * @param home the directory on disk that was searched, or null
   * @param folder the remote folder that was searched, or null
   */
  public SessionPages found(TierTokens places, long now, String home, String folder) {
    return new SessionPages(
        branch, committedTokens, places, lastUsed, now, numericsEpoch, home, folder);
  }

  /**
   * Returns the expected places of the pages, without a look-up.
   *
   * @param sameProcess whether the engine that made them is still in use
   * @param epoch the numerics epoch of the engine in use
   * @param home the engine's directory on disk, or null
   * @param folder the engine's remote folder, or null
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
