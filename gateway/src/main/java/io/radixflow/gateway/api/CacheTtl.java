package io.radixflow.gateway.api;

import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.record.CacheHints;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads how long a client wants its prompt to stay cached. The pages of the prompt are pinned for
 * this time.
 */
public final class CacheTtl {

  private static final Pattern DURATION = Pattern.compile("([1-9][0-9]{0,5})([smhd])");
  private static final long MAX_MILLIS = TimeUnit.DAYS.toMillis(1);

  private CacheTtl() {}

  /**
   * Returns the pin that a request asks for, in milliseconds; 0 for none.
   *
   * @param retention the field {@code prompt_cache_retention}, or null
   */
  public static long pinMillis(JsonObject body, String retention) {
    JsonObject options = body.object("prompt_cache_options");
    String ttl = options == null ? null : options.text("ttl");
    return millis(ttl == null ? retention : ttl);
  }

  /**
   * Returns the hints that pin a prompt.
   *
   * @param pinMillis minimum time in milliseconds; 0 gives null
   */
  public static CacheHints hints(long pinMillis) {
    return pinMillis == 0 ? null : new CacheHints(false, pinMillis, List.of(), null);
  }

  /**
   * Returns the milliseconds of a duration such as 5m, at most a day; 0 if the text is not a
   * duration.
   */
  public static long millis(String ttl) {
    Matcher duration = ttl == null ? null : DURATION.matcher(ttl);
    if (duration == null || !duration.matches()) {
      return 0;
    }
    long number = Long.parseLong(duration.group(1));
    long millis =
        switch (duration.group(2)) {
          case "s" -> TimeUnit.SECONDS.toMillis(number);
          case "m" -> TimeUnit.MINUTES.toMillis(number);
          case "h" -> TimeUnit.HOURS.toMillis(number);
          default -> TimeUnit.DAYS.toMillis(number);
        };
    return Math.min(millis, MAX_MILLIS);
  }
}
