package io.radixflow.operators.flink.state;

import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.streaming.api.operators.InternalTimerService;

/**
 * Owns the processing-time timers of sessions. A session has one timer as long as it is known. An
 * event does not move the timer; if the timer fires too early, it is set again. Therefore a session
 * needs only one timer, however many events it has.
 *
 * @param retention how long a session is known after its last event, in milliseconds
 */
public record IdleTimers(InternalTimerService<VoidNamespace> timers, long retention) {
  /** Starts the timer of a new session. */
  void start() {
    timers.registerProcessingTimeTimer(VoidNamespace.INSTANCE, now() + retention);
  }

  /**
   * Called when the timer has fired. Returns whether to forget the session; if not, sets the timer
   * again.
   *
   * @param busy whether the session has turns without a reply
   */
  boolean isExpired(long lastEvent, boolean busy) {
    long expiry = busy ? now() + retention : lastEvent + retention;
    if (expiry > now()) {
      timers.registerProcessingTimeTimer(VoidNamespace.INSTANCE, expiry);
      return false;
    }
    return true;
  }

  public long now() {
    return timers.currentProcessingTime();
  }
}
