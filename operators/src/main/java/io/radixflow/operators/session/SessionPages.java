package io.radixflow.operators.session;

import io.radixflow.operators.record.TierTokens;

/**
 * Where the pages of a session were when that was last known; a Flink POJO. A hint for people and
 * for planning: what a turn finds is looked up when it comes, and never depends on this.
 *
 * <p>Part of the {@link SessionSlot}: each state that is written has RocksDB make a file at a
 * checkpoint, while the operator stands still.
 *
 * @param branch the branch that the last turn was of
 * @param committedTokens tokens of its whole pages
 * @param tokens where these were
 * @param lastUsed when a turn last used them, milliseconds since the epoch
 * @param asOf when they were there: when that turn ended or they were last looked for, milliseconds
 *     since the epoch; builds that did not keep it left 0, which is taken for {@code lastUsed}
 * @param numericsEpoch which engines can use them; with another epoch they are computed again
 * @param disk where on a TaskManager's disk they are if any are: the engine's home, by name; null
 *     if it has none
 * @param remote where in a remote file system they are if any are: the folder's URI; null if there
 *     is none
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

  public SessionPages {
    asOf = asOf == 0 ? lastUsed : asOf;
  }

  /**
   * The same pages, looked for again.
   *
   * @param now milliseconds since the epoch
   * @param home the home on disk that was looked into, or null
   * @param folder the remote folder that was looked into, or null
   */
  public SessionPages found(TierTokens places, long now, String home, String folder) {
    return new SessionPages(
        branch, committedTokens, places, lastUsed, now, numericsEpoch, home, folder);
  }

  /**
   * What can be said of these pages without looking.
   *
   * @param sameProcess whether the engine that made them is the one in use
   * @param epoch the numerics epoch of the engine in use
   * @param home its home on disk, or null
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
