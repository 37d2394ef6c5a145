package io.radixflow.engine.tier.remote;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes pages that are too old or too many from a remote tier, for all engines that share it.
 * Each sweep rewrites an object; an engine sweeps when this object is old enough.
 *
 * <p>Several sweeps may run at once, and next to engines that write. Deleted pages were written
 * long ago, an engine that does not find a page counts a miss, and a second deletion has no effect.
 * Ages are differences between the engine's clock and the file system's. Sizes are added up per
 * minute of writing, so memory does not grow with the number of pages.
 */
final class RemoteSweep implements AutoCloseable {
  static final long PERIOD_MILLIS = TimeUnit.MINUTES.toMillis(10);

  private static final Logger LOG = LoggerFactory.getLogger(RemoteSweep.class);

  /**
   * A sweep also frees one part in this many of the limit, so that the next sweep is not due at
   * once.
   */
  private static final int SLACK = 10;

  private final RemotePages pages;
  private final RemoteTierOptions options;
  private final LongSupplier clock;
  private final ToIntFunction<List<String>> deleter;
  private final ScheduledFuture<?> runs;

  /**
   * Schedules the sweep, if the options limit anything.
   *
   * @param clock milliseconds since the epoch
   * @param deleter deletes objects and returns how many it has deleted
   * @param threads run the sweep
   */
  RemoteSweep(
      RemotePages pages,
      RemoteTierOptions options,
      LongSupplier clock,
      ToIntFunction<List<String>> deleter,
      ScheduledExecutorService threads) {
    this.pages = pages;
    this.options = options;
    this.clock = clock;
    this.deleter = deleter;
    boolean limited = options.limitBytes() > 0 || options.retentionMillis() > 0;
    this.runs =
        limited
            ? threads.scheduleWithFixedDelay(
                this::runIfDue, PERIOD_MILLIS / SLACK, PERIOD_MILLIS, TimeUnit.MILLISECONDS)
            : null;
  }

  private void runIfDue() {
    try {
      long passed = clock.getAsLong() - pages.lastSweep();
      // a sweep in the future took place before a clock was set back
      if (passed >= PERIOD_MILLIS / 2 || passed < -PERIOD_MILLIS) {
        pages.beginSweep();
        run();
      }
    } catch (IOException | RuntimeException e) {
      LOG.info("Old pages in the remote tier are not deleted now: {}", e.toString());
    }
  }

  /** Deletes the pages that are too old or too many now; returns how many were deleted. */
  int run() throws IOException {
    int deleted = 0;
    NavigableMap<Long, Long> bytesByMinute = new TreeMap<>();
    long total = 0;
    for (String folder : pages.folders()) {
      List<String> old = new ArrayList<>();
      for (RemoteObject page : pages.list(folder)) {
        if (isTooOld(page)) {
          old.add(folder + "/" + page.name());
        } else {
          bytesByMinute.merge(minute(page), page.bytes(), Long::sum);
          total += page.bytes();
        }
      }
      deleted += deleter.applyAsInt(old);
    }
    if (options.limitBytes() > 0 && total > options.limitBytes()) {
      long surplus = total - options.limitBytes() + options.limitBytes() / SLACK;
      deleted += deleteOldest(bytesByMinute, surplus);
    }
    if (deleted > 0) {
      LOG.info("{} pages in the remote tier were too old or too many, and are deleted", deleted);
    }
    return deleted;
  }

  private boolean isTooOld(RemoteObject page) {
    return options.retentionMillis() > 0
        && clock.getAsLong() - page.modified() > options.retentionMillis();
  }

  private static long minute(RemoteObject object) {
    return TimeUnit.MILLISECONDS.toMinutes(object.modified());
  }

  private int deleteOldest(NavigableMap<Long, Long> bytesByMinute, long surplus)
      throws IOException {
    long last = bytesByMinute.firstKey();
    long left = surplus;
    for (var minute : bytesByMinute.entrySet()) {
      last = minute.getKey();
      if (minute.getValue() >= left) {
        break;
      }
      left -= minute.getValue();
    }
    int deleted = 0;
    for (String folder : pages.folders()) {
      List<String> old = new ArrayList<>();
      for (RemoteObject page : pages.list(folder)) {
        // of the last minute, only as many pages as necessary
        boolean chosen = minute(page) < last || minute(page) == last && left > 0;
        if (chosen) {
          left -= minute(page) == last ? page.bytes() : 0;
          old.add(folder + "/" + page.name());
        }
      }
      deleted += deleter.applyAsInt(old);
    }
    return deleted;
  }

  @Override
  public void close() {
    if (runs != null) {
      runs.cancel(true);
    }
  }
}
