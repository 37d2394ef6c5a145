package io.radixflow.operators.flink;

import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.operators.flink.engine.TierSettings;
import io.radixflow.operators.flink.state.ControlState;
import io.radixflow.operators.flink.turn.intake.SessionEnds;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.TierCommand;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles control events, which reach all subtasks in the same order. Only the task's thread uses
 * it.
 */
record ControlEventHandler(ControlState control, EngineTiers tiers, SessionEnds ends) {
  private static final Logger LOG = LoggerFactory.getLogger(ControlEventHandler.class);

  /** Handles an event. An event that cannot be carried out is logged and changes nothing. */
  void handle(ControlEvent event) throws Exception {
    try {
      switch (event.kind()) {
        case ERASE_TENANT -> eraseTenant(event.tenant());
        case DRAIN -> control.drain(event.value());
        case LIMITS -> control.limits(event.tenant(), event.value());
        case TIERS -> switchTiers(event.value());
      }
    } catch (RefusedException e) {
      LOG.warn("Control event {} is ignored: {}", event.kind(), e.getMessage());
    }
  }

  private void eraseTenant(String tenant) throws Exception {
    if (tenant == null) {
      throw new RefusedException("erase_tenant names no tenant");
    }
    ends.eraseTenant(tenant, control.nextErasure());
  }

  /** Stores the new settings in all subtasks; the engine of each TaskManager applies them once. */
  private void switchTiers(String value) throws Exception {
    TierCommand command;
    try {
      command = TierCommand.parse(value);
    } catch (IllegalArgumentException e) {
      throw new RefusedException(e.getMessage());
    }
    TierSettings before = control.tiers();
    TierSettings after = tiers.refusal(command) == null ? before.after(command) : before.next();
    control.tiers(after);
    tiers.apply(after, command);
  }
}
