package io.radixflow.operators.flink.engine;

import io.radixflow.protocol.record.control.TierCommand;

/**
 * The settings of the tiers after control events; they override the job's configuration.
 *
 * @param number number of events so far; later settings have higher numbers
 * @param hostBytes size of host memory; {@link TierCommand#CONFIGURED} for the configured size
 * @param diskBytes size of the disk tier, likewise
 * @param hostDetached whether host memory is detached and must not be used
 * @param diskDetached whether the disk is detached and must not be used
 */
public record TierSettings(
    long number, long hostBytes, long diskBytes, boolean hostDetached, boolean diskDetached) {

  /** The settings before any event. */
  public static final TierSettings NONE =
      new TierSettings(0, TierCommand.CONFIGURED, TierCommand.CONFIGURED, false, false);

  /** Returns the settings after one more event that changes nothing. */
  public TierSettings next() {
    return new TierSettings(number + 1, hostBytes, diskBytes, hostDetached, diskDetached);
  }

  /** Returns the settings after one more event. An attach without a size keeps the current size. */
  public TierSettings after(TierCommand command) {
    boolean host = command.tier() == TierCommand.Tier.HOST;
    boolean detached =
        switch (command.action()) {
          case ATTACH -> false;
          case DETACH -> true;
          case RESIZE, FLUSH -> host ? hostDetached : diskDetached;
        };
    long before = host ? hostBytes : diskBytes;
    boolean sized =
        command.action() == TierCommand.Action.RESIZE || command.bytes() != TierCommand.CONFIGURED;
    long bytes = sized ? command.bytes() : before;
    return host
        ? new TierSettings(number + 1, bytes, diskBytes, detached, diskDetached)
        : new TierSettings(number + 1, hostBytes, bytes, hostDetached, detached);
  }
}
