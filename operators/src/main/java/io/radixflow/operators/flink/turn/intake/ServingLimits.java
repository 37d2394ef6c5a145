package io.radixflow.operators.flink.turn.intake;

import io.radixflow.operators.flink.engine.TenantCounts;
import io.radixflow.operators.flink.state.ControlState;
import io.radixflow.operators.flink.state.SessionCounts;
import io.radixflow.operators.flink.turn.run.TurnQueues;
import io.radixflow.operators.session.BusyException;
import io.radixflow.protocol.record.ErrorCode;
import java.util.List;

/** Decides whether there is room for one more turn or session. Only the task's thread uses it. */
public record ServingLimits(ControlState control, TurnQueues queues, SessionCounts sessions) {
  private static final String TURNS = "turns running and waiting";

  /**
   * A session with this many characters in its turns accepts no further turn. One turn may exceed
   * it.
   */
  private static final long MAX_QUEUED_LENGTH = 4L << 20;

  /**
   * Admits a turn. The caller then adds it to the queues or dismisses it.
   *
   * @param replaced turns of the session that end if the new one is admitted
   * @throws BusyException if a limit is reached
   */
  void admitTurn(String session, String tenant, List<TurnQueues.Entry> replaced) throws Exception {
    if (control.isDraining()) {
      throw new BusyException(ErrorCode.DRAINING, "the service drains and accepts no turns");
    }
    int freed = replaced.size();
    int sessionLimit = control.maxQueuedPerSession();
    if (queues.sizeOfSession(session) - freed >= sessionLimit) {
      throw full("session", sessionLimit, TURNS);
    }
    long freedLength = replaced.stream().mapToLong(TurnQueues.Entry::length).sum();
    if (queues.lengthOfSession(session) - freedLength >= MAX_QUEUED_LENGTH) {
      throw new BusyException(
          "the session has messages of %d characters or more running and waiting"
              .formatted(MAX_QUEUED_LENGTH));
    }
    int tenantLimit = control.maxQueuedPerTenant(tenant);
    int limit = control.maxQueuedPerTaskManager();
    require(queues.admit(session, tenant, freed, tenantLimit, limit), tenantLimit, limit, TURNS);
  }

  /**
   * Admits a session that is about to be opened.
   *
   * @throws BusyException if a limit is reached
   */
  void admitSession(String tenant) throws Exception {
    if (control.isDraining()) {
      throw new BusyException(ErrorCode.DRAINING, "the service drains and opens no sessions");
    }
    int tenantLimit = control.maxSessionsPerTenant(tenant);
    int limit = control.maxSessionsPerTaskManager();
    require(sessions.tryOpen(tenant, tenantLimit, limit), tenantLimit, limit, "open sessions");
  }

  private static void require(TenantCounts.Full full, int tenantLimit, int limit, String of)
      throws BusyException {
    if (full != null) {
      throw full == TenantCounts.Full.TENANT
          ? full("tenant", tenantLimit, of)
          : full("TaskManager", limit, of);
    }
  }

  private static BusyException full(String what, int limit, String of) {
    return new BusyException("the %s has its limit of %d %s".formatted(what, limit, of));
  }
}
