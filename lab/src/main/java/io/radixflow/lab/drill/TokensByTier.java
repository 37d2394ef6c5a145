package io.radixflow.lab.drill;

/**
 * Where prompts' tokens came from, of all committed replies.
 *
 * @param computed that no tier had
 * @param device that the device had
 * @param host from host memory
 * @param disk from TaskManagers' disks
 * @param remote from the folder that all TaskManagers reach
 * @param afterKills of those from disk and folder, by the processes that took over from killed ones
 */
public record TokensByTier(
    long computed, long device, long host, long disk, long remote, long afterKills) {

  /** From tiers below the device. */
  public long below() {
    return host + disk + remote;
  }
}
