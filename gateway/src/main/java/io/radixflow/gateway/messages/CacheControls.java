package io.radixflow.gateway.messages;

import io.radixflow.jobs.json.JsonObject;
import java.util.concurrent.TimeUnit;

/**
 * The cache controls of a request. The job caches every prompt; a control keeps the pages of this
 * one at least for its time to live.
 */
final class CacheControls {

  private static final long DEFAULT = TimeUnit.MINUTES.toMillis(5);

  private long pinMillis;

  /** Reads the control of a block, or of the request, if it has one. */
  void read(JsonObject holder) {
    JsonObject control = holder.object("cache_control");
    if (control != null) {
      boolean hour = "1h".equals(control.text("ttl"));
      pinMillis = Math.max(pinMillis, hour ? TimeUnit.HOURS.toMillis(1) : DEFAULT);
    }
  }

  /** How long the pages are kept at least; 0 without any control. */
  long pinMillis() {
    return pinMillis;
  }
}
