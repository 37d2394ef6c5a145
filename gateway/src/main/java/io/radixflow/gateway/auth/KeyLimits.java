package io.radixflow.gateway.auth;

import io.radixflow.gateway.auth.AuthDecision.Outcome;
import java.util.HashSet;
import java.util.concurrent.TimeUnit;

/**
 * A key, and its use of the limits on this gateway. Requests per minute are a bucket that is full
 * at first and refills evenly. Thread-safe.
 */
final class KeyLimits {

  private static final double MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final ApiKey key;
  private final Caller caller;
  private double left;
  private long filledAt;
  private int concurrent;

  KeyLimits(ApiKey key, long now) {
    this.key = key;
    this.caller = new Caller(key.tenant(), new HashSet<>(key.models()), key.operator());
    this.left = key.requestsPerMinute();
    this.filledAt = now;
  }

  ApiKey key() {
    return key;
  }

  /**
   * Admits a request, or returns the limit that it exceeds.
   *
   * @param now nanoseconds of a monotonic clock
   */
  synchronized AuthDecision admit(long now) {
    int perMinute = key.requestsPerMinute();
    if (key.concurrentRequests() > 0 && concurrent >= key.concurrentRequests()) {
      return AuthDecision.refused(Outcome.TOO_MANY_CONCURRENT, 1);
    }
    if (perMinute > 0) {
      left = Math.min(perMinute, left + (now - filledAt) / MINUTE * perMinute);
      filledAt = now;
      if (left < 1) {
        double seconds = (1 - left) * 60 / perMinute;
        return AuthDecision.refused(Outcome.TOO_MANY_REQUESTS, (int) Math.ceil(seconds));
      }
      left--;
    }
    concurrent++;
    return AuthDecision.admitted(caller, this::release);
  }

  private synchronized void release() {
    concurrent--;
  }
}
