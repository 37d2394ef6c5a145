package io.radixflow.gateway.messages;

import io.radixflow.protocol.json.JsonObject;
import java.util.concurrent.TimeUnit;

/**
 * The cache controls of a request. The job caches every prompt. A control keeps the prompt's pages
 * at least for the control's time to live.
 */
final class CacheControls {

  private static final long DEFAULT = TimeUnit.MINUTES.toMillis(5);

  private long pinMillis;

  /** Reads the cache control of a block or of the request, if there is one. */
  void read(JsonObject holder) {
    JsonObject control = holder.object("cache_control");
    if (control != null) {
      boolean hour = "1h".equals(control.text("ttl"));
      pinMillis = Math.max(pinMillis, hour ? TimeUnit.HOURS.toMillis(1) : DEFAULT);
    }
  }

  /** Returns the minimum time to keep the pages, in milliseconds; 0 without any control. */
  long pinMillis() {
    return pinMillis;
  }
}
